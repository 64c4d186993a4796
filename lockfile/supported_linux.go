package lockfile

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Type numbers that golang.org/x/sys/unix does not name.
const (
	lustreMagic = 0x0bd00bd0
	gpfsMagic   = 0x47504653
	panfsMagic  = 0xaad7aaea
	beegfsMagic = 0x19830326
	vboxsfMagic = 0x786f4256
)

// networkName returns the name of the network file system that st, the statfs of dir,
// describes, and "" for a local one. The Go type of st.Type differs between
// architectures; all numbers fit 32 bits.
func networkName(dir string, st *unix.Statfs_t) string {
	switch uint32(st.Type) {
	case unix.FUSE_SUPER_MAGIC:
		return fuseName(dir)
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "smb"
	case unix.CIFS_SUPER_MAGIC:
		return "cifs"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	case lustreMagic:
		return "lustre"
	case gpfsMagic:
		return "gpfs"
	case panfsMagic:
		return "panfs"
	case beegfsMagic:
		return "beegfs"
	case vboxsfMagic:
		return "vboxsf"
	}
	return ""
}

// fuseName returns the name of the network file system in user space that dir is on,
// and "" for a local or unknown one. All of these have one type number; their names are
// in the table of mounts.
func fuseName(dir string) string {
	var st unix.Stat_t
	if retry(func() error { return unix.Stat(dir, &st) }) != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	name := strings.TrimPrefix(mountType(mounts, uint64(st.Dev)), "fuse.")
	if slices.Contains([]string{"virtiofs", "sshfs", "glusterfs"}, name) {
		return name
	}
	return ""
}

// mountType returns the file system type of a device from the text of
// /proc/self/mountinfo, "" if the device is not listed:
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
func mountType(mountinfo []byte, device uint64) string {
	number := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	for line := range bytes.Lines(mountinfo) {
		mount, kind, found := strings.Cut(string(line), " - ")
		if fields := strings.Fields(mount); found && len(fields) > 2 && fields[2] == number {
			kind, _, _ = strings.Cut(kind, " ")
			return kind
		}
	}
	return ""
}

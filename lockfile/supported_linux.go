package lockfile

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkName returns the name of the network file system that st, the statfs of dir,
// describes, and "" for a local one. The Go type of st.Type differs between
// architectures; all numbers fit 32 bits.
func networkName(dir string, st *unix.Statfs_t) string {
	if uint32(st.Type) == unix.FUSE_SUPER_MAGIC {
		return fuseName(dir)
	}
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC:  "nfs",
		unix.SMB_SUPER_MAGIC:  "smb",
		unix.SMB2_SUPER_MAGIC: "smb",
		unix.CIFS_SUPER_MAGIC: "cifs",
		unix.V9FS_MAGIC:       "9p",
		unix.AFS_SUPER_MAGIC:  "afs",
		unix.AFS_FS_MAGIC:     "afs",
		unix.CEPH_SUPER_MAGIC: "ceph",
		unix.CODA_SUPER_MAGIC: "coda",
		unix.NCP_SUPER_MAGIC:  "ncp",
		// Those that golang.org/x/sys/unix does not name.
		0x0bd00bd0: "lustre",
		0x47504653: "gpfs",
		0xaad7aaea: "panfs",
		0x19830326: "beegfs",
		0x786f4256: "vboxsf",
	}[uint32(st.Type)]
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

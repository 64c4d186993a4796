package lockfile

import "golang.org/x/sys/unix"

// Type numbers that golang.org/x/sys/unix does not name.
const (
	lustreMagic = 0x0bd00bd0
	gpfsMagic   = 0x47504653
	panfsMagic  = 0xaad7aaea
	beegfsMagic = 0x19830326
	vboxsfMagic = 0x786f4256
)

// networkName is "" for a local file system. The type's Go type differs from one
// architecture to the next; the numbers all fit 32 bits.
func networkName(st *unix.Statfs_t) string {
	switch uint32(st.Type) {
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

package lockfile

import "golang.org/x/sys/unix"

// networkName is "" for a local file system.
func networkName(_ string, st *unix.Statfs_t) string {
	switch name := unix.ByteSliceToString(st.Fstypename[:]); name {
	case "nfs", "smbfs", "cifs", "afpfs", "webdav":
		return name
	}
	return ""
}

package lockfile

import "golang.org/x/sys/unix"

// networkName returns the name of a network file system, "" for a local one.
func networkName(_ string, st *unix.Statfs_t) string {
	switch name := unix.ByteSliceToString(st.Fstypename[:]); name {
	case "nfs", "smbfs", "cifs", "afpfs", "webdav":
		return name
	}
	return ""
}

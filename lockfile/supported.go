package lockfile

import "fmt"

// An UnsupportedError means that a directory is on a file system whose locks and
// renames are not seen alike by all machines that share it.
type UnsupportedError struct {
	Dir  string // the directory asked about
	Type string // the file system's usual name, such as "nfs"
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is on a network file system (%s), where locks do not hold", e.Dir, e.Type)
}

// Supported returns an [*UnsupportedError] if dir is on a network file system
// such as NFS, SMB, 9p, AFS, Ceph, Lustre or sshfs, or on one that a virtual machine
// shares with its host (virtiofs, vboxsf), and nil otherwise. For a missing dir the
// nearest existing ancestor counts. Nil does not mean that dir can be used: it is
// also returned if the file system cannot be determined.
//
// Other file systems in user space are accepted: many are local (NTFS, encrypted home
// directories).
func Supported(dir string) error {
	if name := networkFS(dir); name != "" {
		return &UnsupportedError{Dir: dir, Type: name}
	}
	return nil
}

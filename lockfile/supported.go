package lockfile

import "fmt"

// An UnsupportedError says that a directory is on a file system whose locks or
// renames other machines do not see as this one does.
type UnsupportedError struct {
	Dir  string // the directory asked about
	Type string // the file system's usual name, such as "nfs"
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is on a network file system (%s), where locks do not hold", e.Dir, e.Type)
}

// Supported returns an [*UnsupportedError] if dir is on a network file system
// such as NFS, SMB, 9p, AFS, Ceph, Lustre or sshfs, or on one that a virtual machine
// shares with its host (virtiofs, vboxsf), and nil otherwise. A dir that does
// not exist yet is judged by its nearest ancestor that does. Nil does not say
// that dir can be used: what cannot be looked at is left to whoever opens it.
//
// Other file systems in user space are let through: many are local (NTFS,
// encrypted homes).
func Supported(dir string) error {
	if name := networkFS(dir); name != "" {
		return &UnsupportedError{Dir: dir, Type: name}
	}
	return nil
}

package ledger

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange gives two files in a directory of the root each other's name, in one step.
func exchange(root *os.Root, dir, a, b string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	fd := int(f.Fd())
	return unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
}

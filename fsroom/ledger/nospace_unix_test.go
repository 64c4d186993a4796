package ledger

import "golang.org/x/sys/unix"

var errNoSpace = unix.ENOSPC

package fsroom

import "io/fs"

const privateModes = false

func links(fs.FileInfo) uint64 { return 1 }

package doctor

import "io/fs"

func foreign(string, fs.FileInfo, string) (Problem, bool) { return Problem{}, false }

func writable(string) error { return nil }

func giveBack(_, _ string) bool { return false }

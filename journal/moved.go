package journal

import "os"

// Moved reports whether the open journal is no longer the file at its path:
// renamed away, removed or replaced. What is open can still be read to its end.
func (l *Log) Moved() bool {
	f, ok := l.file.(osFile)
	if !ok {
		return false
	}
	opened, err := f.File.Stat()
	if err != nil {
		return true
	}
	now, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(opened, now)
}

// Damaged returns the CorruptError for the line that ends at the offset, for
// whoever finds that a line that decodes makes no sense.
func (l *Log) Damaged(end int64, problem string) error { return l.corruptUpTo(end, problem) }

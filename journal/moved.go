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

// Continues reports whether l begins with the event number that old begins with: a
// copy that was put in the place of old goes on with it, the journal of the next
// life does not.
func (l *Log) Continues(old *Log) bool {
	first, err := l.First()
	if err != nil {
		return false
	}
	before, err := old.First()
	return err == nil && before.Seq == first.Seq
}

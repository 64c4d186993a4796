package lockfile

// Hold marks the file at path as held by this process until release is called
// or the process ends, however it ends; it never waits. The file is created with
// mode 0600 if absent and is not removed. Several holders at once are fine.
//
// Keep release reachable as long as the hold is to last: the garbage collector
// closes what nobody can release. Calling release again does nothing. Symbolic
// links and FIFOs are refused with a [*NotRegularError].
func Hold(path string) (release func(), err error) {
	return hold(path)
}

// Held reports whether anybody, this process included, holds the file at path.
// A file that does not exist is not held. The answer is of the moment: without a
// lock that holders take first, it may be over when Held returns.
func Held(path string) (bool, error) {
	return held(path)
}

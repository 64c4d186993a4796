package identity

// Condition returns the verdict on a process of the table, and whether it is suspended,
// by a signal or a debugger. Only a process that is alive is suspended.
func Condition(t Table, p Process) (v Verdict, stopped bool) {
	v = Judge(p, t.Self(), func(pid int) (Info, error) {
		info, err := t.Look(pid)
		stopped = info.Stopped
		return info, err
	})
	return v, stopped && v == Alive
}

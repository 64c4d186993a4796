package identity

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// tick is the unit of start times in /proc. USER_HZ is 100 on every platform
// that Go supports.
const tick = 10 * time.Millisecond

// stat is the part of /proc/PID/stat that is used here.
type stat struct {
	name  string
	state byte
	ppid  int
	start uint64
}

// The indexes of the fields after the name. Field N of proc(5) has index N-3.
const (
	fieldState = 0
	fieldPPID  = 1
	fieldStart = 19
)

// parseStat parses a line "PID (name) S PPID …". The name may contain blanks,
// parentheses and line ends, so the fields begin after the last ')'.
func parseStat(line []byte) (stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("malformed stat line %q", line)
	}
	fields := bytes.Fields(line[end+1:])
	if len(fields) <= fieldStart || len(fields[fieldState]) != 1 {
		return stat{}, fmt.Errorf("malformed stat line %q", line)
	}
	s := stat{name: string(line[open+1 : end]), state: fields[fieldState][0]}
	var errs [2]error
	s.ppid, errs[0] = strconv.Atoi(string(fields[fieldPPID]))
	s.start, errs[1] = strconv.ParseUint(string(fields[fieldStart]), 10, 64)
	if err := cmp.Or(errs[:]...); err != nil {
		return stat{}, fmt.Errorf("malformed stat line %q: %v", line, err)
	}
	return s, nil
}

// zombie reports whether the process has ended. The first thread of a killed
// process may be a zombie while others still exist; they run no code any more, so
// the process counts as ended.
func (s stat) zombie() bool {
	return s.state == 'Z' || s.state == 'X' || s.state == 'x'
}

// stopped reports whether the process is suspended: by a signal, or by a debugger.
func (s stat) stopped() bool { return s.state == 'T' || s.state == 't' }

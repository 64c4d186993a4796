package identity

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of start times in /proc. USER_HZ is 100 on every platform
// that Go supports.
const tick = 10 * time.Millisecond

// stat is the part of /proc/PID/stat that is used here.
type stat struct {
	name    string
	state   byte
	ppid    int
	threads int
	start   uint64
}

// The indexes of the fields after the name. Field N of proc(5) has index N-3.
const (
	fieldState   = 0
	fieldPPID    = 1
	fieldThreads = 17
	fieldStart   = 19
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
	var errs [3]error
	s.ppid, errs[0] = strconv.Atoi(string(fields[fieldPPID]))
	s.threads, errs[1] = strconv.Atoi(string(fields[fieldThreads]))
	s.start, errs[2] = strconv.ParseUint(string(fields[fieldStart]), 10, 64)
	for _, err := range errs {
		if err != nil {
			return stat{}, fmt.Errorf("malformed stat line %q: %v", line, err)
		}
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

// bootInstant returns the wall time at which start ticks began to count. The two
// clocks cannot be read at the same time, so the closest of a few pairs is used.
func bootInstant() time.Time {
	var instant time.Duration
	closest := time.Hour
	for range 4 {
		before := clock(unix.CLOCK_BOOTTIME)
		wall := clock(unix.CLOCK_REALTIME)
		apart := clock(unix.CLOCK_BOOTTIME) - before
		if apart < closest {
			closest, instant = apart, wall-before-apart/2
		}
		if closest < time.Microsecond {
			break
		}
	}
	return time.Unix(0, int64(instant)).UTC()
}

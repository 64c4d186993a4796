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

// The places of the fields behind the name. proc(5) counts from 1 and from the
// pid, so its field N is N-3 here.
const (
	fieldState   = 0
	fieldPPID    = 1
	fieldThreads = 17
	fieldStart   = 19
)

// parseStat takes a line "PID (name) S PPID …". The name may hold blanks,
// parentheses and line ends, so the rest begins after the last ')'.
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

// zombie reports that the process has ended. While a killed process is taken
// apart its first thread is a zombie before the last one is gone: it does nothing
// any more, so it has ended.
func (s stat) zombie() bool {
	return s.state == 'Z' || s.state == 'X' || s.state == 'x'
}

// bootInstant returns the wall time at which start ticks began to count. The
// two clocks cannot be read at once, so the closest of a few pairs is taken.
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

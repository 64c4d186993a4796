package lockfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// commandLimit is how many bytes of a command line are shown.
const commandLimit = 200

func findHolder(proc, path string) (*Holder, bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return nil, false
	}
	// The kernel returns the list in pieces. While other processes lock and unlock,
	// a line can move from a piece not yet read to one that was read.
	const tries = 3
	for range tries {
		locks, err := os.ReadFile(filepath.Join(proc, "locks"))
		if err != nil {
			return nil, false
		}
		if pid, ok := flockHolder(locks, fileID(&st)); ok {
			return describe(filepath.Join(proc, strconv.Itoa(pid)), pid), true
		}
	}
	return nil, false
}

// fileID returns the name of a file in /proc/locks: device numbers in hexadecimal,
// the inode in decimal.
func fileID(st *unix.Stat_t) string {
	device := uint64(st.Dev)
	return fmt.Sprintf("%02x:%02x:%d", unix.Major(device), unix.Minor(device), st.Ino)
}

// flockHolder returns a process with a flock on the file, exclusive or shared (READ):
// a writer waits for either. A line reads
//
//	2: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF
//
// and has "->" after the number for a process that only waits.
func flockHolder(locks []byte, file string) (pid int, ok bool) {
	for line := range bytes.Lines(locks) {
		fields := strings.Fields(string(line))
		if len(fields) < 6 || fields[1] != "FLOCK" || fields[5] != file {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			return pid, true
		}
	}
	return 0, false
}

// describe reads the process directory dir. The process may end at any time.
func describe(dir string, pid int) *Holder {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return &Holder{PID: pid, State: "gone"}
	}
	name, state := parseStat(string(stat))
	if command := commandLine(filepath.Join(dir, "cmdline")); command != "" {
		name = command
	}
	return &Holder{PID: pid, Command: printable(name), State: state}
}

// parseStat returns the name and the state in "1234 (name) S 1 …". The name may
// itself contain ") R".
func parseStat(stat string) (name, state string) {
	open, shut := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || shut < open {
		return "", ""
	}
	if rest := strings.Fields(stat[shut+1:]); len(rest) > 0 {
		state = stateName(rest[0])
	}
	return stat[open+1 : shut], state
}

func stateName(letter string) string {
	return map[string]string{
		"R": "running", "S": "sleeping", "D": "disk sleep", "T": "stopped", "t": "traced", "Z": "zombie", "X": "dead", "x": "dead", "I": "idle",
	}[letter]
}

// commandLine returns the start of a command line, "" for a kernel thread, a zombie
// and a file that cannot be read.
func commandLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := io.ReadAll(io.LimitReader(f, commandLimit))
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}

// printable replaces control characters, so that the command line of another process
// cannot send them to the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(s, "?"))
}

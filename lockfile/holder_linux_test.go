package lockfile

import (
	"os"
	"testing"
)

func TestFlockHolder(t *testing.T) {
	const file = "fe:00:77"
	for name, test := range map[string]struct {
		locks string
		pid   int
	}{
		"none":          {"", 0},
		"holder":        {"1: FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n", 12},
		"waiter alone":  {"1: -> FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF\n", 0},
		"waiter first":  {"1: -> FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF\n1: FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n", 12},
		"other inode":   {"1: FLOCK  ADVISORY  WRITE 12 fe:00:770 0 EOF\n", 0},
		"other device":  {"1: FLOCK  ADVISORY  WRITE 12 fe:01:77 0 EOF\n", 0},
		"shared":        {"1: FLOCK  ADVISORY  READ 12 fe:00:77 0 EOF\n", 12},
		"record lock":   {"1: POSIX  ADVISORY  WRITE 12 fe:00:77 0 EOF\n", 0},
		"other pid ns":  {"1: FLOCK  ADVISORY  WRITE 0 fe:00:77 0 EOF\n", 0},
		"cut off":       {"1: FLOCK  ADVISORY  WRITE 12", 0},
		"no number":     {"1: FLOCK  ADVISORY  WRITE x fe:00:77 0 EOF\n", 0},
		"after another": {"1: POSIX  ADVISORY  WRITE 9 fe:00:78 0 EOF\n2: FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n", 12},
	} {
		pid, ok := flockHolder([]byte(test.locks), file)
		if pid != test.pid || ok != (test.pid != 0) {
			t.Errorf("%s: got %d, %v", name, pid, ok)
		}
	}
}

func TestParseStat(t *testing.T) {
	for stat, want := range map[string][2]string{
		"12 (tt) S 1 12":           {"tt", "sleeping"},
		"12 (a) R (b) T 1 12":      {"a) R (b", "stopped"},
		"12 (tt) t 1":              {"tt", "traced"},
		"12 (tt) Z 1":              {"tt", "zombie"},
		"12 (tt) D 1":              {"tt", "disk sleep"},
		"12 (tt) ? 1":              {"tt", ""},
		"12 (tt)":                  {"tt", ""},
		"12":                       {"", ""},
		")(":                       {"", ""},
		"12 (kworker/0:1) I 2 0 0": {"kworker/0:1", "idle"},
	} {
		if name, state := parseStat(stat); name != want[0] || state != want[1] {
			t.Errorf("%q: got %q, %q", stat, name, state)
		}
	}
}

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	if got := describe(dir+"/7", 7); *got != (Holder{PID: 7, State: "gone"}) {
		t.Errorf("ended process: %+v", got)
	}
	check(t, os.WriteFile(dir+"/stat", []byte("7 (tt) S 1"), 0o600))
	if got := describe(dir, 7); *got != (Holder{7, "tt", "sleeping"}) {
		t.Errorf("without command line: %+v", got)
	}
	check(t, os.WriteFile(dir+"/cmdline", []byte("tt\x00wait\x00\x1b[31m\xff\x00"), 0o600))
	if got := describe(dir, 7); got.Command != "tt wait ?[31m?" {
		t.Errorf("command %q", got.Command)
	}
}

func TestNoHolder(t *testing.T) {
	path := inTemp(t, "lock")
	if h, ok := FindHolder(path); ok {
		t.Errorf("missing file: %+v", h)
	}
	free(t, path)
	if h, ok := FindHolder(path); ok {
		t.Errorf("free lock: %+v", h)
	}
	unlock, err := Lock(t.Context(), path)
	check(t, err)
	if h, ok := FindHolder(path); !ok || h.PID != os.Getpid() {
		t.Errorf("own lock: %+v", h)
	}
	check(t, unlock())
}

package identity

import (
	"os"
	"slices"
	"testing"

	"github.com/shirou/gopsutil/v3/process"
)

func TestSplitProcArgs(t *testing.T) {
	for raw, want := range map[string][]string{
		"\x02\x00\x00\x00/bin/sh\x00\x00\x00\x00sh\x00/opt/claude\x00HOME=/\x00": {"sh", "/opt/claude"},
		"\x01\x00\x00\x00/bin/a b\x00a b\x00X=1\x00":                             {"a b"},
		"\x09\x00\x00\x00/bin/x\x00x\x00":                                        {"x"},
		"\x00\x00\x00\x00":                                                       nil,
	} {
		if got := splitProcArgs([]byte(raw)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestOwnArguments(t *testing.T) {
	if got := argumentsOf(&process.Process{Pid: int32(os.Getpid())}); !slices.Equal(got, os.Args) {
		t.Errorf("%q, want %q", got, os.Args)
	}
}

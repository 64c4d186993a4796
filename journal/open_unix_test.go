package journal

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpenRefusesPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	refused(t, path, "a named pipe")
}

func TestOpenRefusesSocket(t *testing.T) {
	t.Chdir(t.TempDir()) // a socket's name has little room
	s, err := net.Listen("unix", "s")
	if err != nil {
		t.Skip(err)
	}
	defer s.Close()
	refused(t, "s", "a socket")
}

func TestOpenRefusesDevice(t *testing.T) { refused(t, os.DevNull, "a device") }

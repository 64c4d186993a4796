package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// smallDisk mounts a file system of 24 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=24m"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("mounting a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

// fill writes a file that leaves so many bytes free.
func fill(t *testing.T, dir string, left int) (path string) {
	t.Helper()
	path = filepath.Join(dir, "fill")
	free, _, err := freeSpace(dir)
	if err == nil {
		err = os.WriteFile(path, make([]byte, int(free)-left), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// publish returns the number of the error of a change, 0 if it is stored, and -1 if there is
// no answer.
func publish(t *testing.T, conn *nats.Conn) int {
	t.Helper()
	m, err := conn.Request("ttlog.ns.rooms.a", []byte("line"), time.Second)
	if err != nil {
		return -1
	}
	switch text := string(m.Data); {
	case strings.Contains(text, `"err_code":10002`), strings.Contains(text, `"err_code":10023`):
		return 10002
	case strings.Contains(text, `"error"`):
		t.Logf("%s", text)
		return 1
	}
	return 0
}

func mustRead(t *testing.T, conn *nats.Conn) {
	t.Helper()
	// The server may be started again after it has refused, too.
	until(t, "read while the disk is full", func() bool {
		m, err := conn.Request("$JS.API.STREAM.MSG.GET."+entries, []byte(`{"last_by_subj":"ttlog.ns.rooms.a"}`), time.Second)
		return err == nil && strings.Contains(string(m.Data), `"message"`)
	})
}

// A disk that fills up: changes are refused before a write fails, and reads go on.
func TestNearlyFullDisk(t *testing.T) {
	disk := smallDisk(t)
	r := start(t, options{listen: "127.0.0.1:0", store: filepath.Join(disk, "store")})
	conn := connect(t, r.url)
	until(t, "stored", func() bool { return publish(t, conn) == 0 })
	path := fill(t, disk, 1<<20)
	until(t, "refused", func() bool { return publish(t, conn) == 10002 })
	mustRead(t, conn)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until(t, "stored again", func() bool { return publish(t, conn) == 0 })
	if strings.Contains(r.stderr.String(), "error:") {
		t.Errorf("stderr is %s", r.stderr)
	}
}

// A disk that is full from one moment to the next: a write fails, and the server is started
// again.
func TestSuddenlyFullDisk(t *testing.T) {
	disk := smallDisk(t)
	r := start(t, options{listen: "127.0.0.1:0", store: filepath.Join(disk, "store")})
	conn := connect(t, r.url)
	until(t, "stored", func() bool { return publish(t, conn) == 0 })
	path := fill(t, disk, 0)
	until(t, "refused", func() bool { return publish(t, conn) == 10002 })
	mustRead(t, conn)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until(t, "stored again", func() bool { return publish(t, conn) == 0 })
	if err := r.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

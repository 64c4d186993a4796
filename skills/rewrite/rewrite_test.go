package rewrite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReplaceKeepsModeAndBackup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write(t, path, "old", 0o640)
	w := &Writer{Backups: filepath.Join(dir, "backups"), Now: noon}
	backup, err := w.Replace(path, []byte("old"), []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("content %q", got)
	}
	if got := read(t, backup); got != "old" {
		t.Errorf("backup %q", got)
	}
	if !strings.Contains(backup, "20261120T120000.000Z") || !strings.HasSuffix(backup, "settings.json") {
		t.Errorf("backup is called %s", backup)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	second, err := w.Replace(path, []byte("new"), []byte("newer"))
	if err != nil || second == backup || read(t, second) != "new" || read(t, backup) != "old" {
		t.Errorf("a backup of the same moment was overwritten: %s %v", second, err)
	}
}

func TestReplaceFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.json")
	link := filepath.Join(dir, "settings.json")
	write(t, real, "old", 0o600)
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	w := &Writer{Now: noon}
	if _, err := w.Replace(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if read(t, real) != "new" {
		t.Error("the target was not replaced")
	}
	dangling := filepath.Join(dir, "dangling.json")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Replace(dangling, nil, []byte("x")); err == nil {
		t.Error("wrote through a dangling link")
	}
}

func TestReplaceRefusesWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	w := &Writer{Now: noon}
	if _, err := w.Replace(path, []byte("old"), []byte("new")); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that vanished: %v", err)
	}
	write(t, path, "theirs", 0o600)
	for _, before := range [][]byte{nil, []byte("old")} {
		if _, err := w.Replace(path, before, []byte("new")); !errors.Is(err, ErrChanged) {
			t.Errorf("before %q: %v", before, err)
		}
	}
	if _, err := w.Remove(path, []byte("old")); !errors.Is(err, ErrChanged) {
		t.Errorf("remove: %v", err)
	}
	// The owner writes while the new content is being prepared.
	w.beforeStep = func(step string) {
		if step == "sync" {
			write(t, path, "later", 0o600)
		}
	}
	if _, err := w.Replace(path, []byte("theirs"), []byte("new")); !errors.Is(err, ErrChanged) {
		t.Errorf("a write during the replacement: %v", err)
	}
	if read(t, path) != "later" {
		t.Error("their content is gone")
	}
	if left := files(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReplaceWhereNothingCanBeWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	write(t, path, "old", 0o600)
	blocked := filepath.Join(dir, "no-directory")
	write(t, blocked, "", 0o600)
	w := &Writer{Backups: filepath.Join(blocked, "backups"), Now: noon}
	if _, err := w.Replace(path, []byte("old"), []byte("new")); err == nil {
		t.Error("replaced without the backup it promised")
	}
	if read(t, path) != "old" {
		t.Error("the file was touched")
	}
	if _, err := w.Replace(filepath.Join(blocked, "x.json"), nil, []byte("new")); err == nil {
		t.Error("wrote below a file")
	}
}

const dieAt = "REWRITE_TEST_DIE_AT"

// TestMain makes this binary the process that dies at the nth step.
func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(dieAt)); err == nil {
		replaceAndDie(os.Args[len(os.Args)-1], n)
	}
	os.Exit(m.Run())
}

func replaceAndDie(path string, n int) {
	w := &Writer{Backups: filepath.Join(filepath.Dir(path), "backups"), Now: noon}
	w.beforeStep = func(string) {
		if n--; n < 0 {
			os.Exit(7)
		}
	}
	if _, err := w.Replace(path, []byte("old"), []byte("new")); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func TestDyingLeavesTheOldOrTheNewFile(t *testing.T) {
	seen := map[string]bool{}
	for n := 0; ; n++ {
		path := filepath.Join(t.TempDir(), "settings.json")
		write(t, path, "old", 0o600)
		child := exec.Command(os.Args[0], path)
		child.Env = append(os.Environ(), dieAt+"="+strconv.Itoa(n))
		err := child.Run()
		got := read(t, path)
		seen[got] = true
		if err == nil {
			break
		}
		if child.ProcessState.ExitCode() != 7 || got != "old" {
			t.Fatalf("step %d: exit %d, content %q", n, child.ProcessState.ExitCode(), got)
		}
	}
	if !seen["old"] || !seen["new"] {
		t.Errorf("saw only %v", seen)
	}
}

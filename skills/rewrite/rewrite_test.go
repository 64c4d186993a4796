package rewrite

import (
	"errors"
	"os"
	"path/filepath"
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
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
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

func TestOnlyTheLastBackupsAreKept(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "settings.json"), filepath.Join(dir, "other.json")
	now := noon()
	w := &Writer{Backups: filepath.Join(dir, "backups"), Now: func() time.Time { return now }}
	write(t, path, "0", 0o600)
	write(t, other, "other", 0o600)
	if _, err := w.Replace(other, []byte("other"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	for n := range 2 * mostBackups {
		now = now.Add(time.Duration(n%2) * time.Second) // two in each moment
		if _, err := w.Replace(path, []byte(strconv.Itoa(n)), []byte(strconv.Itoa(n+1))); err != nil {
			t.Fatal(err)
		}
	}
	names := files(t, w.Backups)
	if len(names) != mostBackups+1 || !strings.HasSuffix(names[0], "other.json") {
		t.Fatalf("%q", names)
	}
	if oldest, newest := read(t, filepath.Join(w.Backups, names[1])), read(t, filepath.Join(w.Backups, names[mostBackups])); oldest != strconv.Itoa(mostBackups) || newest != strconv.Itoa(2*mostBackups-1) {
		t.Errorf("kept %s to %s", oldest, newest)
	}
}

func TestALinkInACircleIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.Symlink(path, path); err != nil {
		t.Skip(err)
	}
	w := &Writer{Now: noon}
	if _, err := w.Replace(path, nil, []byte("x")); err == nil || strings.Contains(err.Error(), "EvalSymlinks") || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

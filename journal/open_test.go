package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

func TestOpenWriterCreatesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	if _, err := Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Open of nothing: %v", err)
	}
	if _, err := OpenWriter(filepath.Join(path, "journal.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("OpenWriter without a directory: %v", err)
	}
	for i := range 2 {
		l, err := OpenWriter(path)
		if err != nil {
			t.Fatal(err)
		}
		at, _, err := l.Last()
		if err != nil {
			t.Fatal(err)
		}
		if at, err = l.Append(at, []event.Event{sample(int64(i + 1))}, nil); err != nil || at.Seq != int64(i+1) {
			t.Fatal(at, err)
		}
		l.Close()
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o177 != 0 {
		t.Fatal(info.Mode(), err)
	}
	l := openLog(t, path)
	size, modified, err := l.Stat()
	if err != nil || size != info.Size() || !modified.Equal(info.ModTime()) {
		t.Fatal(size, modified, err)
	}
	checkScan(t, l, Position{}, []int64{1, 2}, Position{size, 2}, 0)
}

func TestReadOnlyLogDoesNotWrite(t *testing.T) {
	path := writeJournal(t, sample(1), sample(2))
	l := openLog(t, path)
	at, _, err := l.Last()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(at, []event.Event{sample(3)}, nil); err == nil {
		t.Fatal("appended through a read-only log")
	}
	checkScan(t, l, Position{}, []int64{1, 2}, at, 0)
}

// TestRealFileIsTornAndCut runs the repair of a torn tail on a real file.
func TestRealFileIsTornAndCut(t *testing.T) {
	whole, torn := change(1, 2), change(3, 2)
	path := writeBytes(t, append(whole, torn[:len(torn)-9]...))
	l, err := OpenWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at, tail, err := l.Last()
	if err != nil || tail.Torn != int64(len(torn)-9) {
		t.Fatal(at, tail, err)
	}
	if _, err := l.Append(at, []event.Event{sample(3)}, nil); !errors.Is(err, ErrPosition) {
		t.Fatalf("append behind a torn tail: %v", err)
	}
	if err := l.Cut(at); err != nil {
		t.Fatal(err)
	}
	if at, err = l.Append(at, []event.Event{sample(3)}, nil); err != nil {
		t.Fatal(err)
	}
	checkScan(t, l, Position{}, []int64{1, 2, 3}, at, 0)
}

// refused checks both ways of opening; it hangs if one of them does.
func refused(t *testing.T, path, kind string) {
	t.Helper()
	_, reading := Open(path)
	_, writing := OpenWriter(path)
	for _, err := range []error{reading, writing} {
		if notRegular := (*lockfile.NotRegularError)(nil); !errors.As(err, &notRegular) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestOpenRefusesDirectory(t *testing.T) { refused(t, t.TempDir(), "a directory") }

func TestOpenRefusesSymlink(t *testing.T) {
	for _, target := range []string{writeJournal(t, sample(1)), "nowhere", t.TempDir()} {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		refused(t, path, "a symbolic link")
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "nowhere")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal("the link's target was created")
		}
	}
}

// TestMoved: a journal is not where it was opened if nothing, or another file, has its name.
func TestMoved(t *testing.T) {
	path := writeJournal(t, sample(1))
	l := openLog(t, path)
	if l.Moved() {
		t.Error("it was not moved")
	}
	if err := os.Rename(path, path+".old"); err != nil || !l.Moved() {
		t.Errorf("it was moved away: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil || !l.Moved() {
		t.Errorf("another file has its name: %v", err)
	}
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFileThatChangesWhileItIsRead: the snapshot says so, and what it has of the file can be had.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	f := newFixture(t)
	f.write("a", "1", "log", "1\n")
	readFile = func(root *os.Root, path string) (data []byte, before, after stat, err error) {
		data, before, after, err = readOpen(root, path)
		if path == "log" {
			f.write("log", f.content("log")+"more\n")
			after.size++
		}
		return data, before, after, err
	}
	s := f.take(WhyPerson, 0)
	readFile = readOpen
	if len(s.LeftOut) != 1 || s.LeftOut[0] != (LeftOut{Path: "log", Why: LeftChanging}) || len(s.Partial()) != 1 {
		t.Errorf("left out: %+v", s.LeftOut)
	}
	f.remove("log")
	f.restore(s, false)
	if got := f.content("log"); !strings.HasPrefix(got, "1\nmore\n") {
		t.Errorf("it came back as %q", got)
	}
	if s = f.take(WhyPerson, 0); len(s.LeftOut) != 0 {
		t.Errorf("left out when it rests: %+v", s.LeftOut)
	}
}

// TestRepositoryThatIsPacked: git puts the contents of a repository into other files at any step of a scan, and the snapshot
// is whole, with the store's own means alone.
func TestRepositoryThatIsPacked(t *testing.T) {
	for _, first := range []bool{false, true} {
		f := newFixture(t)
		f.git("init", "-q")
		for _, text := range []string{"1", "2"} {
			f.write("a", text, "d/b", text)
			f.git("add", "-A")
			f.git("commit", "-qm", text)
			f.git("repack", "-dq") // two packs, which become one
		}
		if !first {
			f.take(WhyPerson, 0)
		}
		f.write("c", "not committed")
		listPacks = func(dir string) ([]os.DirEntry, error) {
			all, err := os.ReadDir(dir)
			if strings.Contains(dir, ".git") {
				f.git("commit", "-q", "--allow-empty", "-m", "x")
				f.git("gc", "-q", "--prune=now")
			}
			return all, err
		}
		s, err := f.Take(t.Context(), Request{Why: WhyPerson, Line: true})
		listPacks = os.ReadDir
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(f.root, ".git")); err != nil {
			t.Fatal(err)
		}
		f.readable()
		if got := f.paths(s.Tree); !slices.Equal(got, []string{"a", "c", "d/b"}) || len(s.LeftOut) > 0 {
			t.Errorf("it has %v, without %v", got, s.LeftOut)
		}
	}
}

// TestTreeOnAnotherFileSystem: where the packs of the repository cannot be linked, their contents are stored.
func TestTreeOnAnotherFileSystem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	store := ""
	for _, dir := range []string{"/dev/shm", "/tmp", "/var/tmp", "."} { // not that of the tree
		if store != "" {
			break
		}
		if temp, err := os.MkdirTemp(dir, "tt-ledger-"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(temp) })
			probe := filepath.Join(f.root, "probe")
			f.write("probe", "")
			if errors.Is(os.Link(probe, filepath.Join(temp, "probe")), syscall.EXDEV) {
				store = temp
			}
			f.remove("probe")
		}
	}
	if store == "" {
		t.Skip("no second file system is known")
	}
	f.Ledger = New(filepath.Join(store, "store"), Options{Root: f.root, Home: filepath.Dir(f.root), Limits: Limits{Free: 1}})
	f.git("init", "-q")
	f.write("a", "1", "d/b", "1")
	f.git("add", "-A")
	f.git("commit", "-qm", "one")
	f.git("gc", "-q")
	s := f.take(WhyPerson, 0)
	if err := os.RemoveAll(filepath.Join(f.root, ".git")); err != nil {
		t.Fatal(err)
	}
	f.remove("a")
	f.restore(s, false)
	if f.readable(); f.content("a") != "1" || len(s.LeftOut) > 0 {
		t.Errorf("%q, left out %v", f.content("a"), s.LeftOut)
	}
}

// TestHundredThousandFiles: a large tree is recorded as a whole, what is new in it too, and a scan that may not last ends in
// time and records nothing.
func TestHundredThousandFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a tree of 100 000 files takes seconds")
	}
	const files = 100_000
	f := newFixture(t)
	f.git("init", "-q", "-b", "main")
	var b strings.Builder
	fmt.Fprintf(&b, "blob\nmark :1\ndata 4\nsame\ncommit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 0\n")
	for i := range files {
		fmt.Fprintf(&b, "M 644 :1 d%d/e%d/f%d\n", i/2000, i/100, i)
	}
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Env, load.Stdin = f.root, f.env(), strings.NewReader(b.String())
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.git("reset", "-q", "--hard")
	s := f.take(WhyFirst, 0)
	if s.Files != files || len(s.LeftOut) > 0 {
		t.Fatalf("%d files, left out %v", s.Files, s.LeftOut)
	}
	f.write("d7/e150/f15000", "changed", "new", "1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := f.Take(ctx, Request{Why: WhyGuard, Unsynced: true}); WhyUnknown(err) != UnknownLate {
		t.Errorf("a millisecond is enough: %v", err)
	}
	last, err := f.Take(t.Context(), Request{Why: WhyGuard, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.differs(s, last); len(got) != 2 || last.Number != s.Number+1 {
		t.Errorf("s%d, then s%d, which differ in %+v", s.Number, last.Number, got)
	}
}

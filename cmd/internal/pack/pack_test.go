package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var then = time.Unix(1700000000, 0)

// tree makes a directory "tt_x" with files of the given modes, in the given order.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tt_x")
	for _, name := range names {
		mode := os.FileMode(0o600)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o700
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("I am "+name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestArchive(t *testing.T) {
	packed, err := archive(tree(t, "share/man/a.1", "bin/tt"), then)
	if err != nil {
		t.Fatal(err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for tape := tar.NewReader(unzip); ; {
		h, err := tape.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(tape)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s %o %d %d%s%s %d %q\n", h.Name, h.Mode, h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime.Unix(), content)
	}
	want := `tt_x/ 755 0 0 1700000000 ""
tt_x/bin/ 755 0 0 1700000000 ""
tt_x/bin/tt 755 0 0 1700000000 "I am bin/tt"
tt_x/share/ 755 0 0 1700000000 ""
tt_x/share/man/ 755 0 0 1700000000 ""
tt_x/share/man/a.1 644 0 0 1700000000 "I am share/man/a.1"
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// The order in which files were made, when, and by whom do not show.
func TestArchiveIsReproducible(t *testing.T) {
	one, err := archive(tree(t, "bin/tt", "bin/agent-bus", "README.md"), then)
	if err != nil {
		t.Fatal(err)
	}
	dir := tree(t, "README.md", "bin/agent-bus", "bin/tt")
	if err := os.Chtimes(filepath.Join(dir, "README.md"), then, then); err != nil {
		t.Fatal(err)
	}
	other, err := archive(dir, then)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("%d bytes and %d bytes differ (%v)", len(one), len(other), err)
	}
	if later, err := archive(dir, then.Add(time.Hour)); err != nil || bytes.Equal(other, later) {
		t.Errorf("the time makes no difference (%v)", err)
	}
}

func TestPackWritesSums(t *testing.T) {
	dir := tree(t, "bin/tt")
	if err := pack([]string{dir}, then); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(dir + ".tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "SHA256SUMS"))
	if want := fmt.Sprintf("%x  tt_x.tar.gz\n", sha256.Sum256(packed)); err != nil || string(sums) != want {
		t.Errorf("got %q (%v), want %q", sums, err, want)
	}
}

func TestPackRefuses(t *testing.T) {
	dir := tree(t, "bin/tt")
	if err := os.Symlink("tt", filepath.Join(dir, "bin", "link")); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("a link takes a privilege here: %v", err)
		}
		t.Fatal(err)
	}
	if err := pack([]string{dir}, then); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a link: %v", err)
	}
	if err := pack(nil, then); err == nil {
		t.Error("nothing to pack is no error")
	}
	if err := pack([]string{filepath.Join(dir, "missing")}, then); err == nil {
		t.Error("a missing directory is no error")
	}
}

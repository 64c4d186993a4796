package workspace

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A disk is a file system by the true paths of what is on it. Those in its
// directories that fold may be spelled otherwise.
type disk struct {
	paths []string
	folds []string // directories
}

// fold stands for what such file systems do: case, and composed characters.
func fold(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "e\u0301", "\u00e9")
}

// find returns the true path, "" if nothing is there.
func (d *disk) find(wanted string) string {
	if wanted == "/" {
		return "/"
	}
	up := d.find(path.Dir(wanted))
	for _, p := range d.paths {
		if path.Dir(p) != up {
			continue
		}
		name, is := path.Base(wanted), path.Base(p)
		for _, dir := range d.folds {
			if dir == up {
				name, is = fold(name), fold(is)
			}
		}
		if name == is {
			return p
		}
	}
	return ""
}

func (d *disk) lookup(folds bool) lookup {
	return lookup{
		folds: folds,
		same:  func(a, b string) bool { return d.find(a) != "" && d.find(a) == d.find(b) },
		list: func(dir string) (names []string) {
			for _, p := range d.paths {
				if path.Dir(p) == d.find(dir) {
					names = append(names, path.Base(p))
				}
			}
			return names
		},
	}
}

// TestSpelling: one directory has one spelling, whatever it is called by.
func TestSpelling(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("the paths here have slashes")
	}
	whole := &disk{
		paths: []string{"/Users", "/Users/Me", "/Users/Me/Café", "/Users/Me/cafe", "/Users/Me/2026", "/Users/Me/2026/Src"},
		folds: []string{"/", "/Users", "/Users/Me", "/Users/Me/2026"},
	}
	linux := &disk{
		paths: []string{"/mnt", "/MNT", "/mnt/c", "/mnt/c/Proj", "/mnt/c/Proj/Café", "/mnt/c/Proj/x", "/mnt/c/Proj/x/A", "/mnt/c/Proj/x/a"},
		folds: []string{"/mnt/c", "/mnt/c/Proj"},
	}
	for _, c := range []struct {
		disk        *disk
		folds       bool
		given, want string
	}{
		{whole, true, "/users/ME/cAFE", "/Users/Me/cafe"},
		{whole, true, "/Users/Me/Cafe\u0301", "/Users/Me/Café"},
		{whole, true, "/Users/Me/CAF\u00c9", "/Users/Me/Café"},
		{whole, true, "/USERS/me/2026/SRC", "/Users/Me/2026/Src"},
		{whole, true, "/Users/Me/2026/Src", "/Users/Me/2026/Src"},
		{whole, true, "/", "/"},
		{linux, false, "/mnt/c/PROJ", "/mnt/c/Proj"},
		{linux, false, "/mnt/C/proj/cafe\u0301", "/mnt/C/proj/cafe\u0301"}, // not there
		{linux, false, "/mnt/c/proj/cafe\u0301", "/mnt/c/Proj/Café"},
		{linux, false, "/mnt/c/proj/X", "/mnt/c/Proj/x"},
		{linux, false, "/mnt/c/Proj/x/A", "/mnt/c/Proj/x/A"},
		{linux, false, "/mnt/c/Proj/X/a", "/mnt/c/Proj/x/a"},
		{linux, false, "/MNT", "/MNT"},
	} {
		if got := c.disk.lookup(c.folds).spell(c.given); got != c.want {
			t.Errorf("%s: got %s, want %s", c.given, got, c.want)
		}
	}
}

// TestSpellingHere: what the system's own file system says.
func TestSpellingHere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = trueCase(dir)
	made := filepath.Join(dir, "Caf\u00e9")
	if err := os.Mkdir(made, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Caf\u00e9", "cAF\u00c9", "Cafe\u0301"} {
		given := filepath.Join(dir, name)
		want := given // not there, or a file of its own
		if osLookup().same(made, given) {
			want = made
		}
		if got := trueCase(given); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}

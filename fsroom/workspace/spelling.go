package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// A lookup is the part of a file system that finding the true spelling of a name needs.
type lookup struct {
	folds bool                      // all directories accept other spellings of a name, as on macOS
	same  func(a, b string) bool    // reports whether both paths exist and name the same file
	list  func(dir string) []string // returns the names in a directory as stored
}

func osLookup() lookup {
	return lookup{
		folds: runtime.GOOS == "darwin",
		same: func(a, b string) bool {
			is, err := os.Lstat(b)
			if err != nil {
				return false
			}
			other, err := os.Lstat(a)
			return err == nil && os.SameFile(is, other)
		},
		list: func(dir string) []string {
			entries, _ := os.ReadDir(dir) // a name in an unreadable directory keeps its spelling
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
	}
}

// trueCase returns path with each element spelled as its directory stores it. Some
// file systems accept several spellings of one name: in upper or lower case, or as
// different sequences of Unicode characters. An element that cannot be looked up
// keeps its spelling.
func trueCase(path string) string { return osLookup().spell(path) }

func (l lookup) spell(path string) string {
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(l.spell(up), l.spelling(up, filepath.Base(path)))
}

func (l lookup) spelling(dir, name string) string {
	path := filepath.Join(dir, name)
	if other := otherCase(name); !l.folds && (other == name || !l.same(path, filepath.Join(dir, other))) {
		return name
	}
	names := l.list(dir)
	if slices.Contains(names, name) {
		return name
	}
	is := func(alike func(spelled string) bool) int {
		return slices.IndexFunc(names, func(spelled string) bool {
			return alike(spelled) && l.same(path, filepath.Join(dir, spelled))
		})
	}
	i := is(func(spelled string) bool { return strings.EqualFold(spelled, name) })
	if i < 0 {
		i = is(func(string) bool { return true })
	}
	if i < 0 {
		return name
	}
	return names[i]
}

// otherCase returns name with the case of its letters swapped, which only a file
// system that ignores case takes for the same name. On Linux each directory may
// ignore case or not (vfat, NTFS, ext4 with casefold, WSL), and one lookup of
// another name is cheaper than reading the directory. A name without letters that
// have a case is returned unchanged.
func otherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
}

package fsroom

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// A lookup is what finding the true spelling of names needs of a file system.
type lookup struct {
	folds bool                      // names may always be spelled in other ways, as on macOS and Windows
	same  func(a, b string) bool    // both paths are there, and name the same file
	list  func(dir string) []string // the names in a directory, as it spells them
}

func osLookup() lookup {
	return lookup{
		folds: runtime.GOOS == "darwin" || runtime.GOOS == "windows",
		same: func(a, b string) bool {
			is, err := os.Lstat(b)
			if err != nil {
				return false
			}
			other, err := os.Lstat(a)
			return err == nil && os.SameFile(is, other)
		},
		list: func(dir string) []string {
			entries, _ := os.ReadDir(dir) // of what cannot be read the spelling stays
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
	}
}

// trueCase spells each part of a path as its directory does, where the file system
// takes several spellings for the same name: in upper or lower case, or as
// different sequences of Unicode characters. A part that cannot be looked up stays
// as it is.
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

// otherCase is a name that only a file system that ignores case takes for name. On
// Linux that can be each directory's own matter (vfat, NTFS, ext4 with casefold, WSL), and asking
// for another name is cheaper than reading the directory. It is name itself with
// nothing in it that has a case.
func otherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
}

//go:build darwin || windows

package fsroom

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// trueCase spells each part of the path as its directory does. A part that
// cannot be looked up stays as it is.
func trueCase(path string) string {
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(trueCase(up), spelling(up, filepath.Base(path)))
}

func spelling(dir, name string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return name
	}
	folded := name
	for _, e := range entries {
		if e.Name() == name {
			return name
		}
		if strings.EqualFold(e.Name(), name) {
			folded = e.Name()
		}
	}
	return folded
}

func platformDataDir(lookup func(string) string) string {
	if runtime.GOOS != "windows" {
		return ""
	}
	return lookup("APPDATA")
}

package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// A tracked is what a repository's index tracks: sorted paths from the top of the
// repository. A path that ends in a slash stands for all below it.
type tracked []string

var errIndex = errors.New("the index of the repository cannot be read")

// readIndex returns the paths of an index of version 2, 3 or 4, with ids of a size. Without an index nothing is tracked.
func readIndex(gitDir string, idSize int) (tracked, error) {
	b, err := os.ReadFile(filepath.Join(gitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errIndex
	}
	paths, shared, err := parseIndex(b, idSize)
	if err != nil || shared == "" {
		return paths, err
	}
	if b, err = os.ReadFile(filepath.Join(gitDir, "sharedindex."+shared)); err != nil {
		return nil, errIndex
	}
	rest, _, err := parseIndex(b, idSize)
	if err != nil {
		return nil, err
	}
	paths = append(rest, paths...)
	sort.Strings(paths)
	return paths, nil
}

// parseIndex returns the paths of an index whose checksum and ids have a size, and the name of the shared one that it
// completes, "" for none.
func parseIndex(b []byte, sum int) (paths tracked, shared string, err error) {
	if len(b) < 12+sum || string(b[:4]) != "DIRC" {
		return nil, "", errIndex
	}
	version, n := binary.BigEndian.Uint32(b[4:]), int(binary.BigEndian.Uint32(b[8:]))
	if version < 2 || version > 4 || n > len(b)/(40+sum) {
		return nil, "", errIndex
	}
	end := len(b) - sum
	at := 12
	paths = make(tracked, 0, n)
	previous := ""
	for range n {
		var path string
		var ok bool
		if path, at, ok = indexEntry(b[:end], at, sum, version, previous); !ok {
			return nil, "", errIndex
		}
		if path != previous || len(paths) == 0 { // stages of a conflict
			paths = append(paths, path)
		}
		previous = path
	}
	for at+8 <= end {
		size := int(binary.BigEndian.Uint32(b[at+4:]))
		if size < 0 || at+8+size > end {
			return nil, "", errIndex
		}
		if string(b[at:at+4]) == "link" && size >= sum {
			shared = hex.EncodeToString(b[at+8 : at+8+sum])
		}
		at += 8 + size
	}
	return paths, shared, nil
}

// indexEntry reads one entry of an index and returns where the next one is.
func indexEntry(b []byte, at, idSize int, version uint32, previous string) (path string, next int, ok bool) {
	fixed := 42 + idSize
	if at+fixed > len(b) {
		return "", 0, false
	}
	start := at + fixed
	if binary.BigEndian.Uint16(b[start-2:])&0x4000 != 0 { // extended flags
		start += 2
	}
	strip := 0 // of the path before
	if version == 4 {
		for n, c := 0, byte(0x80); c&0x80 != 0; n++ {
			if start >= len(b) || n > 4 {
				return "", 0, false
			}
			if n > 0 {
				strip++
			}
			c = b[start]
			strip = strip<<7 | int(c&0x7f)
			start++
		}
	}
	if start > len(b) || strip > len(previous) {
		return "", 0, false
	}
	length := bytes.IndexByte(b[start:], 0)
	if length < 0 {
		return "", 0, false
	}
	path = string(b[start : start+length])
	if version == 4 {
		return previous[:len(previous)-strip] + path, start + length + 1, true
	}
	return path, at + (start-at+length+8)&^7, true
}

// has reports whether the path is tracked.
func (t tracked) has(path string) bool {
	i := sort.SearchStrings(t, path)
	if i < len(t) && t[i] == path {
		return true
	}
	for dir := parent(path); dir != ""; dir = parent(dir) { // a sparse index has directories
		if i := sort.SearchStrings(t, dir+"/"); i < len(t) && t[i] == dir+"/" {
			return true
		}
	}
	return false
}

// below reports whether something in the directory is tracked.
func (t tracked) below(dir string) bool {
	i := sort.SearchStrings(t, dir+"/")
	return i < len(t) && strings.HasPrefix(t[i], dir+"/") || t.has(dir+"/x")
}

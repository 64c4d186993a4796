package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// An ID is the name of a git object.
type ID [sha1.Size]byte

// String returns the id in hexadecimal digits, "" for the zero ID.
func (id ID) String() string {
	if id == (ID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// ParseID reads an id of 40 digits.
func ParseID(s string) (id ID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%q is no object id", s)
	}
	return ID(b), nil
}

// MarshalText returns the digits of the id.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// AppendText appends the digits of the id.
func (id ID) AppendText(b []byte) ([]byte, error) { return append(b, id.String()...), nil }

// UnmarshalText reads an id; the empty text is the zero ID.
func (id *ID) UnmarshalText(b []byte) (err error) {
	*id = ID{}
	if len(b) > 0 {
		*id, err = ParseID(string(b))
	}
	return err
}

// A kind is the type of a git object, with its number in packs.
type kind byte

const (
	kindCommit   kind = 1
	kindTree     kind = 2
	kindBlob     kind = 3
	kindTag      kind = 4
	kindOfsDelta kind = 6
	kindRefDelta kind = 7
)

var kindNames = [...]string{kindCommit: "commit", kindTree: "tree", kindBlob: "blob", kindTag: "tag"}

// The modes of entries of trees.
const (
	modeFile   uint32 = 0o100644
	modeExec   uint32 = 0o100755
	modeLink   uint32 = 0o120000
	modeDir    uint32 = 0o040000
	modeModule uint32 = 0o160000
)

func isRegular(mode uint32) bool { return mode == modeFile || mode == modeExec }

// hashObject returns the id that git gives to the content.
func hashObject(k kind, data []byte) (id ID) {
	h := sha1.New()
	var header [32]byte
	b := append(header[:0], kindNames[k]...)
	b = append(strconv.AppendInt(append(b, ' '), int64(len(data)), 10), 0)
	h.Write(b)
	h.Write(data)
	h.Sum(id[:0])
	return id
}

// emptyBlob and emptyTree are the ids of objects without content.
var emptyBlob, emptyTree = hashObject(kindBlob, nil), hashObject(kindTree, nil)

// An entry is one name of a tree object.
type entry struct {
	name string
	mode uint32
	id   ID
}

var errTree = errors.New("a tree object is damaged")

// parseTree returns the entries of a tree object, in the order of the object.
func parseTree(b []byte) (entries []entry, err error) {
	for len(b) > 0 {
		space, end := bytes.IndexByte(b, ' '), bytes.IndexByte(b, 0)
		if space < 1 || end < space+2 || len(b) < end+1+len(ID{}) {
			return nil, errTree
		}
		mode, err := strconv.ParseUint(string(b[:space]), 8, 32)
		if err != nil {
			return nil, errTree
		}
		e := entry{name: string(b[space+1 : end]), mode: uint32(mode)}
		if !safeName(e.name) {
			return nil, errTree
		}
		b = b[end+1+copy(e.id[:], b[end+1:]):]
		entries = append(entries, e)
	}
	return entries, nil
}

// safeName reports whether a name of a tree may be the name of a file: trees come from
// repositories that somebody else may have written.
func safeName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.EqualFold(name, ".git") && !strings.ContainsAny(name, "/\x00")
}

// compareNames orders names as git does: a directory as if its name ended in a slash.
func compareNames(a string, aDir bool, b string, bDir bool) int {
	n := min(len(a), len(b))
	next := func(name string, isDir bool) byte {
		switch {
		case len(name) > n:
			return name[n]
		case isDir:
			return '/'
		}
		return 0
	}
	return cmp.Or(strings.Compare(a[:n], b[:n]), cmp.Compare(next(a, aDir), next(b, bDir)))
}

package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// ErrShape reports that a place in the document holds another kind of value
// than the one that was looked for, such as a string where an object belongs.
var ErrShape = errors.New("unexpected kind of value")

var byteOrderMark = []byte("\xef\xbb\xbf")

// A document is a text and the tree of values in it.
type document struct {
	mark []byte // byte order mark, or nil
	text []byte // everything after it; offsets count from here
	root hujson.Value
}

func parse(src []byte) (*document, error) {
	d := &document{text: src}
	if bytes.HasPrefix(src, byteOrderMark) {
		d.mark, d.text = src[:len(byteOrderMark)], src[len(byteOrderMark):]
	}
	// hujson lends out parts of its input, and splices must not write into them.
	root, err := hujson.Parse(bytes.Clone(d.text))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	d.root = root
	return d, nil
}

// Valid reports whether src is a JSON document, comments and trailing commas
// allowed.
func Valid(src []byte) bool {
	_, err := parse(src)
	return err == nil
}

// splice returns the document with text[from:to] replaced by with.
func (d *document) splice(from, to int, with string) []byte {
	out := make([]byte, 0, len(d.mark)+len(d.text)+len(with))
	out = append(out, d.mark...)
	out = append(out, d.text[:from]...)
	out = append(out, with...)
	return append(out, d.text[to:]...)
}

// A container is an object or an array, with the places of its entries.
type container struct {
	open, close int // offsets of its opening and closing bracket
	array       bool
	entries     []entry
}

// An entry is an element of an array or a member of an object.
type entry struct {
	name       string // of a member
	start, end int    // of the element, or of the member with its name
	value      *hujson.Value
}

// enter describes the container that v is.
func enter(v *hujson.Value) (container, error) {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	switch value := v.Value.(type) {
	case *hujson.Object:
		for i := range value.Members {
			m := &value.Members[i]
			name := m.Name.Value.(hujson.Literal).String()
			c.entries = append(c.entries, entry{name, m.Name.StartOffset, m.Value.EndOffset, &m.Value})
		}
	case *hujson.Array:
		c.array = true
		for i := range value.Elements {
			e := &value.Elements[i]
			c.entries = append(c.entries, entry{"", e.StartOffset, e.EndOffset, e})
		}
	default:
		return c, ErrShape
	}
	return c, nil
}

// member returns the index of the member called name, -1 if there is none. Of
// several the last counts, as it does for everybody who reads such a file.
func (c container) member(name string) int {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if !c.array && c.entries[i].name == name {
			return i
		}
	}
	return -1
}

// find follows the names in path from the root through objects, and through
// arrays where a name is an index in decimal, and returns the last value it meets
// and how many names led there.
func (d *document) find(path []string) (*hujson.Value, int, error) {
	v := &d.root
	for depth, name := range path {
		c, err := enter(v)
		i := c.member(name)
		if c.array {
			i, err = strconv.Atoi(name)
		}
		if err != nil || i >= len(c.entries) {
			return nil, depth, fmt.Errorf("%s: %w, an object was expected", place(path[:depth]), ErrShape)
		}
		if i < 0 {
			return v, depth, nil
		}
		v = c.entries[i].value
	}
	return v, len(path), nil
}

// place names a position in a document for people.
func place(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return `"` + strings.Join(path, ".") + `"`
}

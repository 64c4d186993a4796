package jsonc

import (
	"bytes"
	"fmt"
)

// An Undo is what the document does not tell about how it was before an entry
// was inserted.
type Undo struct {
	// Kept is how many names of the entry's path were there before; the
	// containers below them were made for it.
	Kept int `json:"kept"`
	// Empty says that the container the text went into had no entries, and
	// Interior what stood between its brackets.
	Empty    bool   `json:"empty,omitempty"`
	Interior string `json:"interior,omitempty"`
}

// A pair is an object of one member, made for the names of a path that are missing.
type pair struct {
	name  string
	value any
}

// MarshalJSON keeps a path's missing names one object each.
func (p pair) MarshalJSON() ([]byte, error) {
	value, err := render(p.value, style{}, "", true)
	return []byte("{" + quote(p.name) + ":" + value + "}"), err
}

// Append adds value as the last element of the array at path, making the array
// and the objects around it where they are missing. It returns the document
// with it, the text that was inserted without the white space around it, and
// what [RemoveElements] needs to restore the document to the byte.
func Append(src []byte, path []string, value any) (out []byte, inserted string, undo Undo, err error) {
	return insert(src, path, "", value)
}

// Set adds the member name with value to the object at path, making the object
// and those around it where they are missing. A member of that name must not be
// there. It returns what [Append] returns, for [RemoveMember].
func Set(src []byte, path []string, name string, value any) (out []byte, inserted string, undo Undo, err error) {
	return insert(src, path, name, value)
}

// insert adds value to the array at path, or under name to the object at path.
func insert(src []byte, path []string, name string, value any) ([]byte, string, Undo, error) {
	d, err := parse(src)
	if err != nil {
		return nil, "", Undo{}, err
	}
	at, depth, err := d.find(path)
	if err != nil {
		return nil, "", Undo{}, err
	}
	c, err := enter(at)
	wantArray := depth == len(path) && name == ""
	if err != nil || c.array != wantArray {
		return nil, "", Undo{}, fmt.Errorf("%s: %w", place(path[:depth]), ErrShape)
	}
	if depth < len(path) {
		name, value = path[depth], wrap(path[depth+1:], name, value)
	}
	if name != "" && c.member(name) >= 0 {
		return nil, "", Undo{}, fmt.Errorf("%s already has a member %q", place(path[:depth]), name)
	}
	return d.add(c, name, value, Undo{Kept: depth})
}

// wrap puts value in the containers that the rest of its path asks for.
func wrap(rest []string, name string, value any) any {
	if name == "" {
		value = []any{value}
	} else {
		value = pair{name, value}
	}
	for i := len(rest) - 1; i >= 0; i-- {
		value = pair{rest[i], value}
	}
	return value
}

// add inserts one entry behind all that c has.
func (d *document) add(c container, name string, value any, undo Undo) ([]byte, string, Undo, error) {
	s := d.style()
	indent := d.childIndent(c, s)
	oneLine := len(c.entries) > 0 && !bytes.Contains(d.text[c.open:c.close], []byte("\n"))
	entry, err := render(value, s, indent, oneLine)
	if err != nil {
		return nil, "", undo, err
	}
	if name != "" {
		entry = quote(name) + ": " + entry
	}
	before := s.eol + indent
	if oneLine {
		before = " "
	}
	if len(c.entries) == 0 {
		undo.Empty, undo.Interior = true, string(d.text[c.open+1:c.close])
		return d.addFirst(c, before+entry, s), entry, undo, nil
	}
	return d.addLast(c, before+entry), entry, undo, nil
}

// addFirst inserts text into a container without entries.
func (d *document) addFirst(c container, text string, s style) []byte {
	at := lastToken(d.text, c.open+1, c.close).end
	if !bytes.Contains(d.text[at:c.close], []byte("\n")) {
		indent, _ := d.lineIndent(c.open)
		return d.splice(at, c.close, text+s.eol+indent)
	}
	return d.splice(at, at, text)
}

// addLast inserts text behind the last entry. If that has no comma it gets one,
// where it ends: a comment behind it stays its comment. If it has one, the new
// entry gets one too, which keeps the document's way of writing lists and makes
// the change invertible.
func (d *document) addLast(c container, text string) []byte {
	last := c.entries[len(c.entries)-1].end
	at := lastToken(d.text, last, c.close).end
	if comma(d.text, last, c.close) >= 0 {
		return d.splice(at, at, text+",")
	}
	return d.splice(last, at, ","+string(d.text[last:at])+text)
}

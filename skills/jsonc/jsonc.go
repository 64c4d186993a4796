// Package jsonc adds entries to a JSON file of another program and removes them.
// Comments, trailing commas, line ends, a byte order mark and all other entries stay
// as they are.
//
// A document is a hujson tree, which keeps the white space and the comments between
// its values. An added entry gets the layout of its neighbour. Removing an entry
// removes its white space and keeps the comments around it.
package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// ErrShape reports that the document has another kind of value at a path than was
// expected, such as a string instead of an object.
var ErrShape = errors.New("unexpected kind of value")

const byteOrderMark = "\ufeff"

// A Document is a JSON file with comments. A path leads from its root to a value;
// its elements are names of members, and indexes of array elements in decimal.
type Document struct {
	mark string // a byte order mark, or ""
	text []byte // the rest of the file
	root hujson.Value
	eol  string // "\n" or "\r\n"
	unit string // one level of indentation
}

// Parse returns the document that src contains. White space alone counts as an
// empty object.
func Parse(src []byte) (*Document, error) {
	d := &Document{eol: "\n", unit: "  "}
	text, marked := bytes.CutPrefix(src, []byte(byteOrderMark))
	if marked {
		d.mark = byteOrderMark
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	return d, d.parse(text)
}

func (d *Document) parse(text []byte) (err error) {
	d.text = text
	// The tree refers to its input, so it gets a copy. A line comment at the end of
	// the file is only parsed if a line end follows.
	if d.root, err = hujson.Parse(append(bytes.Clone(text), '\n')); err != nil {
		return fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d.root.AfterExtra = d.root.AfterExtra[:len(d.root.AfterExtra)-1]
	if n := bytes.IndexByte(text, '\n'); n > 0 && text[n-1] == '\r' {
		d.eol = "\r\n"
	}
	if c, err := enter(&d.root); err == nil && c.len() > 0 {
		if indent, alone := d.indentAt(c.start(0)); alone && indent != "" {
			d.unit = indent
		}
	}
	return nil
}

// Bytes returns the content of the file.
func (d *Document) Bytes() []byte { return append([]byte(d.mark), d.text...) }

// Get returns the value at path as standard JSON, nil if there is none.
func (d *Document) Get(path ...string) (json.RawMessage, error) {
	at, depth, err := d.find(path)
	if err != nil || depth < len(path) {
		return nil, err
	}
	plain := at.Clone()
	plain.Standardize()
	plain.BeforeExtra, plain.AfterExtra = nil, nil
	return plain.Pack(), nil
}

// find follows path from the root as far as it exists. It returns the last value and
// how many elements of path lead to it.
func (d *Document) find(path []string) (*hujson.Value, int, error) {
	at := &d.root
	for depth, name := range path {
		c, err := enter(at)
		if err != nil {
			return nil, depth, fmt.Errorf("%s: %w, an object was expected", place(path[:depth]), err)
		}
		i := c.index(name)
		if i < 0 {
			return at, depth, nil
		}
		at = c.value(i)
	}
	return at, len(path), nil
}

// Append adds value as the last element of the array at path. It makes the array and
// the objects around it where they are missing.
func (d *Document) Append(value any, path ...string) error {
	at, depth, err := d.find(path)
	if err != nil {
		return err
	}
	if depth < len(path) {
		return d.insert(at, path[:depth], path[depth], nest(path[depth+1:], []any{value}))
	}
	return d.insert(at, path, "", value)
}

// Set adds value as a new member at path. It makes the objects around it where they
// are missing. An existing member is an error.
func (d *Document) Set(value any, path ...string) error {
	at, depth, err := d.find(path)
	if err != nil {
		return err
	}
	if depth == len(path) {
		return fmt.Errorf("%s is there already", place(path))
	}
	return d.insert(at, path[:depth], path[depth], nest(path[depth+1:], value))
}

func nest(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return value
}

// insert adds value after the entries of at, the value at path: as a member called
// name, or as an element if name is "".
func (d *Document) insert(at *hujson.Value, path []string, name string, value any) error {
	c, err := enter(at)
	if wanted := "an object"; err != nil || (name == "") != (c.array != nil) {
		if name == "" {
			wanted = "an array"
		}
		return fmt.Errorf("%s: %w, %s was expected", place(path), ErrShape, wanted)
	}
	n, outer := c.len(), ""
	outer, _ = d.indentAt(at.StartOffset)
	indent := outer + d.unit
	oneLine := n > 0 && !bytes.Contains(d.text[at.StartOffset:at.EndOffset], []byte("\n"))
	if n > 0 {
		if own, alone := d.indentAt(c.start(n - 1)); alone {
			indent = own
		}
	}
	v, err := d.render(value, indent, oneLine)
	if err != nil {
		return err
	}
	// Comments before the closing bracket go before the new entry.
	closing := c.before(n)
	comments, space := split(*closing)
	before := comments + d.eol + indent
	if oneLine {
		before = comments + " "
	}
	if n == 0 && !strings.Contains(space, "\n") {
		space = d.eol + outer
	}
	*closing = hujson.Extra(space)
	if n > 0 && c.value(n-1).AfterExtra != nil { // with a trailing comma, so the new entry gets one
		v.AfterExtra = hujson.Extra{}
	}
	c.add(name, before, v)
	return d.parse(d.root.Pack())
}

// render returns value in the layout of entries with the given indentation.
func (d *Document) render(value any, indent string, oneLine bool) (hujson.Value, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if !oneLine {
		encoder.SetIndent(indent, d.unit)
	}
	if err := encoder.Encode(value); err != nil {
		return hujson.Value{}, err
	}
	text := strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\n", d.eol)
	return hujson.Parse([]byte(text))
}

// Remove removes the entry at path and reports whether there was one. Comments
// before and after the entry stay.
func (d *Document) Remove(path ...string) (bool, error) {
	at, depth, err := d.find(path[:len(path)-1])
	if err != nil || depth < len(path)-1 {
		return false, err
	}
	c, err := enter(at)
	if err != nil {
		return false, fmt.Errorf("%s: %w", place(path[:depth]), err)
	}
	i, last := c.index(path[depth]), c.len()-1
	if i < 0 {
		return false, nil
	}
	own := *c.before(i)
	tail, trailing := c.value(i).AfterExtra, c.value(i).AfterExtra != nil
	if i == last && i > 0 && !trailing {
		// The previous entry becomes the last one and loses its comma, not its comments.
		own = append(bytes.Clone(c.value(i-1).AfterExtra), own...)
		c.value(i - 1).AfterExtra = nil
	} else if i == last && i > 0 && c.value(i-1).AfterExtra == nil {
		c.value(i - 1).AfterExtra = hujson.Extra{}
	}
	c.remove(i)
	next := c.before(i) // before the next entry or the closing bracket
	comments, space := split(append(bytes.Clone(own), tail...))
	switch rest, _ := split(*next); {
	case i < last && rest == "":
		*next = hujson.Extra(comments + space)
	case comments == "" && c.len() == 0 && rest == "":
		*next = nil
	case comments != "":
		if strings.Contains(space, "\n") && !strings.HasPrefix(strings.TrimLeft(string(*next), " \t\r"), "\n") {
			comments += d.eol // it may be a line comment
		}
		*next = append(hujson.Extra(comments), *next...)
	}
	return true, d.parse(d.root.Pack())
}

// Prune removes the container at path if it has neither entries nor comments, then
// the one around it, and so on up to the root. It keeps containers that like has, too.
func (d *Document) Prune(like *Document, path ...string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		at, depth, err := d.find(path)
		if err != nil || depth < len(path) {
			return err
		}
		c, err := enter(at)
		if err != nil || c.len() > 0 {
			return nil
		}
		if comments, _ := split(*c.before(0)); comments != "" {
			return nil
		}
		if _, depth, err := like.find(path); err == nil && depth == len(path) {
			return nil
		}
		if _, err := d.Remove(path...); err != nil {
			return err
		}
	}
	return nil
}

// indentAt returns the white space at the start of the line of offset, and whether
// there is nothing else on the line before offset.
func (d *Document) indentAt(offset int) (indent string, alone bool) {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	line := d.text[start:offset]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0 && start > 0
}

// split divides the text between two values after its last comment.
func split(extra hujson.Extra) (comments, space string) {
	comments = strings.TrimRight(string(extra), " \t\r\n")
	return comments, string(extra[len(comments):])
}

// place returns the name of a path for messages.
func place(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return strconv.Quote(strings.Join(path, "."))
}

// A container is an object or an array; the other field is nil.
type container struct {
	object *hujson.Object
	array  *hujson.Array
}

// enter returns v as a container, or ErrShape.
func enter(v *hujson.Value) (container, error) {
	switch value := v.Value.(type) {
	case *hujson.Object:
		return container{object: value}, nil
	case *hujson.Array:
		return container{array: value}, nil
	}
	return container{}, ErrShape
}

func (c container) len() int {
	if c.object != nil {
		return len(c.object.Members)
	}
	return len(c.array.Elements)
}

// index returns the index of the entry called name, -1 if there is none. Of several
// members with that name it returns the last one, as JSON decoders do.
func (c container) index(name string) int {
	if c.array != nil {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < c.len() {
			return i
		}
		return -1
	}
	for i := c.len() - 1; i >= 0; i-- {
		if c.object.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

func (c container) value(i int) *hujson.Value {
	if c.object != nil {
		return &c.object.Members[i].Value
	}
	return &c.array.Elements[i]
}

// head returns the first value of entry i, which for a member is its name.
func (c container) head(i int) *hujson.Value {
	if c.object != nil {
		return &c.object.Members[i].Name
	}
	return &c.array.Elements[i]
}

func (c container) start(i int) int { return c.head(i).StartOffset }

// before returns the white space and comments before entry i, or if i is the length
// before the closing bracket.
func (c container) before(i int) *hujson.Extra {
	switch {
	case i < c.len():
		return &c.head(i).BeforeExtra
	case c.object != nil:
		return &c.object.AfterExtra
	}
	return &c.array.AfterExtra
}

func (c container) add(name, before string, v hujson.Value) {
	if c.array != nil {
		v.BeforeExtra = hujson.Extra(before)
		c.array.Elements = append(c.array.Elements, v)
		return
	}
	v.BeforeExtra = hujson.Extra(" ")
	c.object.Members = append(c.object.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(name)},
		Value: v,
	})
}

func (c container) remove(i int) {
	if c.object != nil {
		c.object.Members = slices.Delete(c.object.Members, i, i+1)
		return
	}
	c.array.Elements = slices.Delete(c.array.Elements, i, i+1)
}

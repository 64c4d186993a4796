package jsonc

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// Elements calls use with every element of the array at path, as standard JSON.
// A missing array has none.
func Elements(src []byte, path []string, use func(element json.RawMessage)) error {
	d, err := parse(src)
	if err != nil {
		return err
	}
	c, found, err := d.array(path)
	if err != nil || !found {
		return err
	}
	for _, e := range c.entries {
		use(standard(e.value))
	}
	return nil
}

// Member returns the value of the member name of the object at path, as
// standard JSON, and nil if there is none.
func Member(src []byte, path []string, name string) (json.RawMessage, error) {
	d, err := parse(src)
	if err != nil {
		return nil, err
	}
	full := append(append([]string(nil), path...), name)
	v, depth, err := d.find(full)
	if err != nil || depth < len(full) {
		return nil, err
	}
	return standard(v), nil
}

// standard returns v as JSON without comments and trailing commas.
func standard(v *hujson.Value) json.RawMessage {
	plain := v.Clone()
	plain.Standardize()
	plain.BeforeExtra, plain.AfterExtra = nil, nil
	return plain.Pack()
}

func (d *document) array(path []string) (container, bool, error) {
	v, depth, err := d.find(path)
	if err != nil || depth < len(path) {
		return container{}, false, err
	}
	c, err := enter(v)
	if err != nil || !c.array {
		return c, false, fmt.Errorf("%s: %w, an array was expected", place(path), ErrShape)
	}
	return c, true, nil
}

// RemoveElements takes out of the array at path the elements that match
// accepts, and the containers that undo says were made for them, where nothing
// else has moved in. It returns the document and how many elements went.
func RemoveElements(src []byte, path []string, match func(element json.RawMessage) bool, undo Undo) ([]byte, int, error) {
	removed := 0
	for {
		d, err := parse(src)
		if err != nil {
			return nil, removed, err
		}
		c, found, err := d.array(path)
		if err != nil || !found {
			return src, removed, err
		}
		i := lastMatch(c, match)
		if i < 0 {
			return src, removed, nil
		}
		removed++
		if len(c.entries) == 1 {
			src, err = d.removeUpward(path, undo)
			return src, removed, err
		}
		src = d.cut(c, i)
	}
}

func lastMatch(c container, match func(json.RawMessage) bool) int {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if match(standard(c.entries[i].value)) {
			return i
		}
	}
	return -1
}

// RemoveMember takes the member name out of the object at path, and the objects
// that undo says were made for it, where nothing else has moved in. It reports
// whether the member was there.
func RemoveMember(src []byte, path []string, name string, undo Undo) ([]byte, bool, error) {
	d, err := parse(src)
	if err != nil {
		return nil, false, err
	}
	v, depth, err := d.find(path)
	if err != nil || depth < len(path) {
		return src, false, err
	}
	c, err := enter(v)
	if err != nil || c.array {
		return src, false, fmt.Errorf("%s: %w, an object was expected", place(path), ErrShape)
	}
	i := c.member(name)
	if i < 0 {
		return src, false, nil
	}
	if len(c.entries) > 1 {
		return d.cut(c, i), true, nil
	}
	out, err := d.removeUpward(path, undo)
	return out, err == nil, err
}

// removeUpward takes out the only entry of the container at path, and that
// container too if it was made for the entry and has no comment of its own by
// now, and so on up to what was there before.
func (d *document) removeUpward(path []string, undo Undo) ([]byte, error) {
	depth := len(path)
	c, err := d.at(path)
	if err != nil {
		return nil, err
	}
	for depth > undo.Kept && len(c.entries) == 1 && !d.commented(c) {
		depth--
		if c, err = d.at(path[:depth]); err != nil {
			return nil, err
		}
	}
	if depth == len(path) {
		return d.emptied(c, 0, depth, undo), nil
	}
	i := c.member(path[depth])
	if len(c.entries) > 1 {
		return d.cut(c, i), nil
	}
	return d.emptied(c, i, depth, undo), nil
}

// at returns the container at path, which is known to be there.
func (d *document) at(path []string) (container, error) {
	v, _, err := d.find(path)
	if err != nil {
		return container{}, err
	}
	return enter(v)
}

// commented reports whether c, which has one entry, has comments around it.
func (d *document) commented(c container) bool {
	e := c.entries[0]
	around := string(d.text[c.open+1:e.start]) + string(d.text[e.end:c.close])
	rest := withoutSpace([]byte(around))
	return rest != "" && rest != ","
}

// emptied takes the only entry out of c. If c was empty before the insertion
// and nothing but layout has changed, it looks again as it did.
func (d *document) emptied(c container, i, depth int, undo Undo) []byte {
	e := c.entries[i]
	end, kept := e.end, ""
	if at := comma(d.text, e.end, c.close); at >= 0 {
		end, kept = at+1, string(d.text[e.end:at])
	}
	rest := string(d.text[c.open+1:e.start]) + kept + string(d.text[end:c.close])
	if undo.Empty && undo.Kept == depth && withoutSpace([]byte(rest)) == withoutSpace([]byte(undo.Interior)) {
		return d.splice(c.open+1, c.close, undo.Interior)
	}
	return d.drop(lastToken(d.text, c.open+1, e.start), end, kept)
}

// drop cuts text[from.end:to] out, apart from what is kept of it. If from is a
// line comment its line must still end, or it would swallow what follows.
func (d *document) drop(from token, to int, kept string) []byte {
	next := strings.TrimLeft(kept+string(d.text[to:]), " \t\r")
	if from.line && !strings.HasPrefix(next, "\n") {
		kept = d.style().eol + kept
	}
	return d.splice(from.end, to, kept)
}

// cut takes entry i out of c, which has others, with the white space before it
// and one comma: its own, or if it is the last and has none, the one before it.
func (d *document) cut(c container, i int) []byte {
	e := c.entries[i]
	previous := c.open + 1
	if i > 0 {
		previous = c.entries[i-1].end
	}
	next := c.close
	if i+1 < len(c.entries) {
		next = c.entries[i+1].start
	}
	from := lastToken(d.text, previous, e.start)
	if at := comma(d.text, e.end, next); at >= 0 {
		return d.drop(from, at+1, string(d.text[e.end:at]))
	}
	at := comma(d.text, previous, e.start)
	without := &document{mark: d.mark, text: append(append([]byte(nil), d.text[:at]...), d.text[at+1:]...)}
	return without.drop(token{from.end - 1, from.line}, e.end-1, "")
}

// Package wire reads and writes JSON without reflection.
//
// A tt command runs for a millisecond, and encoding/json spends a fifth of one on
// learning about the types that it meets before it reads the first byte. So whatever
// every command reads or writes goes through this package: a [Parser] of text,
// functions that append to it, and a [Codec], with which a type lists its fields once
// for reading and writing.
package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Fields is implemented by a pointer to a type that has a JSON form. It calls one
// method of the Codec per field, in the order in which the fields are written. The
// same calls read and write:
//
//	func (m *Member) Fields(c *wire.Codec) {
//		c.Text("agent_id", &m.AgentID)
//		c.OptInt("last_held_event_seq", &m.LastHeld)
//	}
//
// The methods whose names begin with Opt do not write a zero value.
type Fields interface {
	Fields(c *Codec)
}

// Append appends v as a JSON object.
func Append(b []byte, v Fields) []byte {
	c := Codec{out: append(b, '{'), empty: true}
	v.Fields(&c)
	return append(c.out, '}')
}

// Decode reads a JSON object into v. Keys may come in any order, and unknown ones are
// skipped. A field that is absent or null stays as it is. If Decode fails, some fields
// may have been read.
func Decode(data []byte, v Fields) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8")
	}
	p := NewParser(data)
	if err := decode(p, v); err != nil {
		return err
	}
	return p.End()
}

// decode calls Fields as long as members are left: once for those that come in the order of the fields.
func decode(p *Parser, v Fields) error {
	c := Codec{in: p}
	for c.begin(p.enter('{', '}')); c.more && c.bad == nil; {
		start := p.pos
		if v.Fields(&c); c.err != nil {
			return fmt.Errorf("%.40s: %w", c.key, c.err)
		}
		if !c.met && p.pos == start { // no field has the key
			c.met, c.bad = true, p.Skip()
		}
		if c.met && c.bad == nil {
			c.begin(p.next('}'))
		}
	}
	return c.bad
}

// A Codec writes all fields of a value, or reads those whose keys come next.
type Codec struct {
	out   []byte
	empty bool // nothing was written yet

	in   *Parser // nil when writing
	more bool    // there is a member with the key
	key  []byte
	met  bool  // the value of that member was read
	err  error // of the value
	bad  error // of what is between the values
}

// Writes reports whether the codec writes.
func (c *Codec) Writes() bool { return c.in == nil }

// write writes the name of a field and reports true, if the codec writes. The caller
// then writes the value.
func (c *Codec) write(name string) bool {
	if c.in != nil {
		return false
	}
	if !c.empty {
		c.out = append(c.out, ',')
	}
	c.empty = false
	c.out = append(AppendString(c.out, name), ':')
	return true
}

// read reports whether the codec reads, the field is the one whose key is next, and
// its value is not null. The caller then reads the value.
func (c *Codec) read(name string) bool {
	if c.in == nil || c.err != nil {
		return false
	}
	if c.met {
		c.begin(c.in.next('}'))
	}
	if !c.more || c.bad != nil || string(c.key) != name {
		return false
	}
	c.met = true
	return !c.in.Null()
}

// begin reads the key of the next member, if there are more.
func (c *Codec) begin(more bool, err error) {
	if c.more, c.met, c.bad = more, false, err; more && err == nil {
		c.key, c.bad = c.in.name()
	}
}

// Text is a string.
func (c *Codec) Text(name string, v *string) {
	if c.write(name) {
		c.out = AppendString(c.out, *v)
	} else if c.read(name) {
		*v, c.err = c.in.Text()
	}
}

// OptText is a string that is left out when empty.
func (c *Codec) OptText(name string, v *string) {
	if c.in != nil || *v != "" {
		c.Text(name, v)
	}
}

// Int is an integer.
func (c *Codec) Int(name string, v *int64) {
	if c.write(name) {
		c.out = strconv.AppendInt(c.out, *v, 10)
	} else if c.read(name) {
		*v, c.err = c.in.Int()
	}
}

// OptInt is an integer that is left out when zero.
func (c *Codec) OptInt(name string, v *int64) {
	if c.in != nil || *v != 0 {
		c.Int(name, v)
	}
}

// Num is an int.
func (c *Codec) Num(name string, v *int) {
	n := int64(*v)
	c.Int(name, &n)
	*v = int(n)
}

// OptNum is an int that is left out when zero.
func (c *Codec) OptNum(name string, v *int) {
	if c.in != nil || *v != 0 {
		c.Num(name, v)
	}
}

// Bool is a truth value.
func (c *Codec) Bool(name string, v *bool) {
	if c.write(name) {
		c.out = strconv.AppendBool(c.out, *v)
	} else if c.read(name) {
		*v, c.err = c.in.Bool()
	}
}

// OptBool is a truth value that is left out when false.
func (c *Codec) OptBool(name string, v *bool) {
	if c.in != nil || *v {
		c.Bool(name, v)
	}
}

// OptRaw is any JSON value, left out when it is blank or null. A value that was read
// aliases the text.
func (c *Codec) OptRaw(name string, v *json.RawMessage) {
	if c.in == nil {
		raw := bytes.Trim(*v, " \t\r\n")
		if len(raw) > 0 && string(raw) != "null" && c.write(name) {
			c.out = AppendRaw(c.out, raw)
		}
	} else if c.read(name) {
		*v, c.err = c.in.Raw()
	}
}

// A Time has a textual form that needs no escaping.
type Time interface {
	encoding.TextAppender
	encoding.TextUnmarshaler
}

// Time is a time, written as a string.
func (c *Codec) Time(name string, v Time) {
	if c.write(name) {
		c.out, _ = v.AppendText(append(c.out, '"'))
		c.out = append(c.out, '"')
	} else if c.read(name) {
		var text []byte
		if text, c.err = c.in.Unquoted(); c.err == nil {
			c.err = v.UnmarshalText(text)
		}
	}
}

// OptTime is a time that is left out when absent is true.
func (c *Codec) OptTime(name string, v Time, absent bool) {
	if c.in != nil || !absent {
		c.Time(name, v)
	}
}

// TimeIfAny is a time that is left out when it is nil.
func TimeIfAny[T any, P interface {
	*T
	Time
	IsZero() bool
}](c *Codec, name string, v **T) {
	if c.in == nil {
		c.OptTime(name, P(*v), *v == nil)
		return
	}
	read := P(new(T))
	if c.Time(name, read); !read.IsZero() {
		*v = read
	}
}

// Object is a nested object.
func (c *Codec) Object(name string, v Fields) {
	if c.write(name) {
		c.out = Append(c.out, v)
	} else if c.read(name) {
		c.err = decode(c.in, v)
	}
}

// OptObject is a nested object that is left out when absent is true.
func (c *Codec) OptObject(name string, v Fields, absent bool) {
	if c.in != nil || !absent {
		c.Object(name, v)
	}
}

// List is a list of objects.
func List[T any, P interface {
	*T
	Fields
}](c *Codec, name string, list *[]T) {
	at := func(i int) Fields {
		if i == len(*list) {
			*list = append(*list, *new(T))
		}
		return P(&(*list)[i])
	}
	if c.write(name) {
		c.writeList(len(*list), at)
	} else if c.read(name) {
		*list = nil
		c.readList(at)
	}
}

// writeList writes n objects, of which at returns each.
func (c *Codec) writeList(n int, at func(int) Fields) {
	c.out = append(c.out, '[')
	for i := range n {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = Append(c.out, at(i))
	}
	c.out = append(c.out, ']')
}

// readList reads objects, for which at makes room one after the other.
func (c *Codec) readList(at func(int) Fields) {
	n := 0
	c.err = c.in.Array(func() error {
		n++
		return decode(c.in, at(n-1))
	})
}

// OptList is a list of objects that is left out when empty.
func OptList[T any, P interface {
	*T
	Fields
}](c *Codec, name string, list *[]T) {
	if c.in != nil || len(*list) > 0 {
		List[T, P](c, name, list)
	}
}

// OptTexts is a list of strings that is left out when empty.
func (c *Codec) OptTexts(name string, list *[]string) {
	if c.in != nil || len(*list) > 0 {
		c.Texts(name, list)
	}
}

// Texts is a list of strings.
func (c *Codec) Texts(name string, list *[]string) {
	if c.write(name) {
		c.out = appendList(c.out, *list, func(b []byte, s *string) []byte { return AppendString(b, *s) })
	} else if c.read(name) {
		*list, c.err = c.in.Texts()
	}
}

// OptInts is a list of integers that is left out when empty.
func (c *Codec) OptInts(name string, list *[]int64) {
	if len(*list) > 0 && c.write(name) {
		c.out = appendList(c.out, *list, func(b []byte, n *int64) []byte { return strconv.AppendInt(b, *n, 10) })
	} else if c.read(name) {
		*list, c.err = c.in.Ints()
	}
}

func appendList[T any](b []byte, list []T, one func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

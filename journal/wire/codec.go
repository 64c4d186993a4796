package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Fields is implemented by a pointer to a type that has a JSON form. It calls
// one method of the Codec per field, always in the same order, whichever way
// the codec goes:
//
//	func (m *Member) Fields(c *wire.Codec) {
//		c.Text("agent_id", &m.AgentID)
//		c.OptInt("last_held_event_seq", &m.LastHeld)
//	}
//
// The methods beginning with Opt leave a zero value out.
type Fields interface {
	Fields(c *Codec)
}

// Append appends v as a JSON object.
func Append(b []byte, v Fields) []byte {
	c := Codec{out: append(b, '{'), empty: true}
	v.Fields(&c)
	return append(c.out, '}')
}

// Decode reads a JSON object into v. Keys come in any order, unknown ones are
// skipped, null means absent, and what is absent is left as it is.
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

func decode(p *Parser, v Fields) error {
	c := Codec{in: p}
	return p.Object(func(name []byte) error {
		c.key, c.met, c.err = name, false, nil
		v.Fields(&c)
		if c.err != nil {
			return fmt.Errorf("%.40s: %w", name, c.err)
		}
		if !c.met {
			return p.Skip()
		}
		return nil
	})
}

// A Codec writes all fields of a value, or reads the one whose key is next.
type Codec struct {
	out   []byte
	empty bool // nothing was written yet

	in  *Parser // nil when writing
	key []byte
	met bool
	err error
}

// mine reports whether the field is the one to read.
func (c *Codec) mine(name string) bool {
	if c.met || string(c.key) != name {
		return false
	}
	c.met = true
	return true
}

// name writes a field's name.
func (c *Codec) name(name string) {
	if !c.empty {
		c.out = append(c.out, ',')
	}
	c.empty = false
	c.out = append(AppendString(c.out, name), ':')
}

// Text is a string.
func (c *Codec) Text(name string, v *string) {
	if c.in == nil {
		c.name(name)
		c.out = AppendString(c.out, *v)
	} else if c.mine(name) {
		*v, c.err = c.in.Text()
	}
}

// OptText is a string that is left out when empty.
func (c *Codec) OptText(name string, v *string) {
	if c.in != nil || *v != "" {
		c.Text(name, v)
	}
}

// Int is a 64-bit integer.
func (c *Codec) Int(name string, v *int64) {
	if c.in == nil {
		c.name(name)
		c.out = strconv.AppendInt(c.out, *v, 10)
	} else if c.mine(name) {
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
	if c.in == nil {
		c.name(name)
		c.out = strconv.AppendBool(c.out, *v)
	} else if c.mine(name) {
		*v, c.err = c.in.Bool()
	}
}

// OptBool is a truth value that is left out when false.
func (c *Codec) OptBool(name string, v *bool) {
	if c.in != nil || *v {
		c.Bool(name, v)
	}
}

// OptRaw is any JSON value as it stands, left out when empty. What was read
// aliases the text.
func (c *Codec) OptRaw(name string, v *json.RawMessage) {
	if c.in == nil && len(*v) > 0 {
		c.name(name)
		c.out = AppendRaw(c.out, *v)
	} else if c.in != nil && c.mine(name) {
		*v, c.err = c.in.Raw()
	}
}

// Object is a nested object.
func (c *Codec) Object(name string, v Fields) {
	if c.in == nil {
		c.name(name)
		c.out = Append(c.out, v)
	} else if c.mine(name) && !c.in.Null() {
		c.err = decode(c.in, v)
	}
}

// OptObject is a nested object that is left out when absent is true.
func (c *Codec) OptObject(name string, v Fields, absent bool) {
	if c.in != nil || !absent {
		c.Object(name, v)
	}
}

// A Texter has a JSON form that is one string.
type Texter interface {
	AppendText(b []byte) []byte // the text, which needs no escaping
	ParseText(text []byte) error
}

// Texter is a value whose form is one string.
func (c *Codec) Texter(name string, v Texter) {
	if c.in == nil {
		c.name(name)
		c.out = append(v.AppendText(append(c.out, '"')), '"')
	} else if c.mine(name) && !c.in.Null() {
		var raw []byte
		if raw, c.err = c.in.Unquoted(); c.err == nil {
			c.err = v.ParseText(raw)
		}
	}
}

// Writes reports whether the codec writes.
func (c *Codec) Writes() bool { return c.in == nil }

// List is a list of objects.
func List[T any, P interface {
	*T
	Fields
}](c *Codec, name string, list *[]T) {
	if c.in == nil {
		c.name(name)
		c.out = append(c.out, '[')
		for i := range *list {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			c.out = Append(c.out, P(&(*list)[i]))
		}
		c.out = append(c.out, ']')
		return
	}
	if c.mine(name) && !c.in.Null() {
		*list, c.err = decodeList[T, P](c.in)
	}
}

// OptList is a list that is left out when empty.
func OptList[T any, P interface {
	*T
	Fields
}](c *Codec, name string, list *[]T) {
	if c.in != nil || len(*list) > 0 {
		List[T, P](c, name, list)
	}
}

func decodeList[T any, P interface {
	*T
	Fields
}](p *Parser) ([]T, error) {
	var list []T
	err := p.Array(func() error {
		list = append(list, *new(T))
		return decode(p, P(&list[len(list)-1]))
	})
	return list, err
}

// OptTexts is a list of strings that is left out when empty.
func (c *Codec) OptTexts(name string, list *[]string) {
	if c.in == nil && len(*list) > 0 {
		c.name(name)
		c.out = append(c.out, '[')
		for i, s := range *list {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			c.out = AppendString(c.out, s)
		}
		c.out = append(c.out, ']')
	} else if c.in != nil && c.mine(name) && !c.in.Null() {
		*list, c.err = c.in.Texts()
	}
}

// OptInts is a list of integers that is left out when empty.
func (c *Codec) OptInts(name string, list *[]int64) {
	if c.in == nil && len(*list) > 0 {
		c.name(name)
		c.out = append(c.out, '[')
		for i, n := range *list {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			c.out = strconv.AppendInt(c.out, n, 10)
		}
		c.out = append(c.out, ']')
	} else if c.in != nil && c.mine(name) && !c.in.Null() {
		*list, c.err = c.in.Ints()
	}
}

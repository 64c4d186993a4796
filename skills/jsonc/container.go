package jsonc

import (
	"slices"
	"strconv"

	"github.com/tailscale/hujson"
)

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

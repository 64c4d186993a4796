// Package wire reads and writes JSON: records, payloads of events and results of commands.
//
// It differs from encoding/json in what a journal needs. What it writes has one form, it reads
// text with exact errors and limits, and it learns about a type only what it needs: a tt command
// runs for two milliseconds, and encoding/json spends a fifth of one before it reads the
// first byte.
package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Shaped is implemented by a pointer to a type that is written as another value. It is read by its
// own fields.
type Shaped interface{ Shape() any }

// A Time has a textual form that needs no escaping.
type Time interface {
	encoding.TextAppender
	encoding.TextUnmarshaler
}

// Append appends v, or the value that it points to, as JSON: a struct by the json tags of its fields.
// A field without a tag is not written, and one with omitempty or omitzero as encoding/json does.
// The fields of an embedded struct, and of a field with the option inline, are fields of the
// object itself, with inline,omitzero if they are not zero. A list is [] when nil, a
// [time.Duration] is a number of milliseconds, and a [Time] is its text. The keys of a map are sorted.
func Append(b []byte, v any) []byte { return appendValue(b, reflect.ValueOf(&v).Elem()) }

// Decode reads a JSON object into the struct that v points to. Keys may come in any order, and
// unknown ones are skipped. A field that is absent or null stays as it is. If Decode fails,
// some fields may have been read.
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8")
	}
	p := NewParser(data)
	if err := p.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	return p.End()
}

// A FieldError says at which part of a value something else was expected, as in "artifacts[0].note".
type FieldError struct {
	At  string
	Err error
}

func (e *FieldError) Error() string { return fmt.Sprintf("%.40s: %v", e.At, e.Err) }
func (e *FieldError) Unwrap() error { return e.Err }

// within returns an error about the part of a value that has the name.
func within(name string, err error) error {
	inner, part := (*FieldError)(nil), ""
	if errors.As(err, &inner) {
		if part, err = inner.At, inner.Err; part[0] != '[' {
			part = "." + part
		}
	}
	return &FieldError{name + part, err}
}

// A field is a member of the objects of a type.
type field struct {
	name  string
	index []int
	empty bool // left out if it is empty
	zero  bool // left out if it is zero
}

var (
	rawType   = reflect.TypeFor[json.RawMessage]()
	milliType = reflect.TypeFor[time.Duration]()

	known sync.Map // the []field of each struct that was met, by reflect.Type
)

// fieldsOf returns the fields of a struct, with those of embedded ones.
func fieldsOf(t reflect.Type) []field {
	if fields, ok := known.Load(t); ok {
		return fields.([]field)
	}
	fields, embeds := make([]field, 0, t.NumField()), false
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && (f.Anonymous || strings.HasPrefix(options, "inline")):
			embeds = true
			for _, inner := range fieldsOf(f.Type) {
				inner.index = slices.Concat(f.Index, inner.index)
				inner.zero = inner.zero || strings.HasSuffix(options, "omitzero")
				fields = append(fields, inner)
			}
		case name != "" && name != "-":
			fields = append(fields, field{name, f.Index, options == "omitempty", options == "omitzero"})
		}
	}
	if embeds {
		all := slices.Clone(fields)
		fields = slices.DeleteFunc(fields, func(f field) bool { // of an embedded struct, and hidden by one of t
			return slices.ContainsFunc(all, func(g field) bool { return g.name == f.name && len(g.index) < len(f.index) })
		})
	}
	known.Store(t, fields)
	return fields
}

// leftOut reports whether the value of the field is not written.
func (f *field) leftOut(v reflect.Value) bool {
	switch {
	case !f.empty && !f.zero:
		return false
	case v.Type() == rawType:
		raw := trimmed(v.Bytes())
		return len(raw) == 0 || string(raw) == "null"
	case v.Type() == milliType:
		return time.Duration(v.Int()).Milliseconds() == 0
	case f.empty && (v.Kind() == reflect.Slice || v.Kind() == reflect.Map):
		return v.Len() == 0
	case v.Kind() == reflect.Struct:
		if z, ok := v.Addr().Interface().(interface{ IsZero() bool }); ok {
			return z.IsZero()
		}
	}
	return v.IsZero()
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return AppendString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int64, reflect.Int:
		n := v.Int()
		if v.Type() == milliType {
			n = time.Duration(n).Milliseconds()
		}
		return strconv.AppendInt(b, n, 10)
	case reflect.Uint64, reflect.Uint32:
		return strconv.AppendInt(b, int64(v.Uint()), 10)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return appendValue(b, addressable(v.Elem()))
	case reflect.Slice:
		if v.Type() == rawType {
			return AppendRaw(b, trimmed(v.Bytes()))
		}
		return appendElements(b, v)
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, c reflect.Value) int { return strings.Compare(a.String(), c.String()) })
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(AppendString(b, key.String()), ':'), addressable(v.MapIndex(key)))
		}
		return append(b, '}')
	case reflect.Func: // which has no JSON
		return b
	}
	switch of := v.Addr().Interface().(type) {
	case Shaped:
		return Append(b, of.Shape())
	case Time:
		b, _ = of.AppendText(append(b, '"'))
		return append(b, '"')
	}
	if v.Kind() == reflect.Array {
		return appendElements(b, v)
	}
	b = append(b, '{')
	start := len(b)
	fields := fieldsOf(v.Type())
	for i := range fields {
		f := &fields[i]
		one := v.FieldByIndex(f.index)
		if f.leftOut(one) {
			continue
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = appendValue(append(AppendString(b, f.name), ':'), one)
	}
	return append(b, '}')
}

// addressable returns the value where a pointer to it can be had, to call its methods.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	held := reflect.New(v.Type()).Elem()
	held.Set(v)
	return held
}

func appendElements(b []byte, v reflect.Value) []byte {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, v.Index(i))
	}
	return append(b, ']')
}

// object reads the fields of a struct. Mostly they come in their order.
func (p *Parser) object(v reflect.Value) error {
	fields, next := fieldsOf(v.Type()), 0
	return p.Object(func(key []byte) error {
		for n := range fields {
			f := &fields[(next+n)%len(fields)]
			if f.name != string(key) {
				continue
			}
			next += n + 1
			if p.Null() {
				return nil
			}
			if err := p.value(v.FieldByIndex(f.index)); err != nil {
				return within(f.name, err)
			}
			return nil
		}
		return p.Skip()
	})
}

// value reads a value that is not null.
func (p *Parser) value(v reflect.Value) (err error) {
	switch v.Kind() {
	case reflect.String:
		var text []byte
		text, err = p.Unquoted()
		v.SetString(string(text))
		return err
	case reflect.Bool:
		var is bool
		is, err = p.Bool()
		v.SetBool(is)
		return err
	case reflect.Int64, reflect.Int:
		var n int64
		if n, err = p.Int(); v.Type() == milliType {
			n = n * int64(time.Millisecond)
		}
		v.SetInt(n)
		return err
	case reflect.Uint64, reflect.Uint32:
		var n int64
		n, err = p.Int()
		v.SetUint(uint64(n))
		return err
	case reflect.Pointer:
		read := reflect.New(v.Type().Elem())
		if err = p.value(read.Elem()); err == nil {
			v.Set(read)
		}
		return err
	case reflect.Slice:
		if v.Type() == rawType {
			var raw json.RawMessage
			raw, err = p.Raw()
			v.SetBytes(raw)
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return p.Array(func() error {
			n := v.Len()
			v.Grow(1)
			v.SetLen(n + 1)
			if err := p.value(v.Index(n)); err != nil {
				return within("["+strconv.Itoa(n)+"]", err)
			}
			return nil
		})
	case reflect.Map:
		var raw json.RawMessage
		if raw, err = p.Raw(); err == nil {
			err = json.Unmarshal(raw, v.Addr().Interface())
		}
		return err
	}
	if of, ok := v.Addr().Interface().(Time); ok {
		var text []byte
		if text, err = p.Unquoted(); err == nil {
			err = of.UnmarshalText(text)
		}
		return err
	}
	if v.Kind() == reflect.Array {
		n := 0
		return p.Array(func() error {
			if n++; n > v.Len() {
				return p.Skip()
			}
			return p.value(v.Index(n - 1))
		})
	}
	return p.object(v)
}

// trimmed returns the value without white space around it.
func trimmed(raw json.RawMessage) json.RawMessage { return bytes.Trim(raw, " \t\r\n") }

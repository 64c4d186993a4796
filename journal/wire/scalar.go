package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Null reads a null if one is next, and reports whether it did.
func (p *Parser) Null() bool { return p.peek() == 'n' && p.literal("null") == nil }

// Int reads an integer; null is 0.
func (p *Parser) Int() (int64, error) {
	if p.Null() {
		return 0, nil
	}
	start := p.pos
	if c := p.peek(); c != '-' && !isDigit(c) {
		return 0, p.fail("an integer")
	}
	if err := p.number(); err != nil {
		return 0, err
	}
	text := p.data[start:p.pos]
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40s is no 64-bit integer", text)
	}
	return n, nil
}

// Bool reads a truth value; null is false.
func (p *Parser) Bool() (bool, error) {
	if p.Null() {
		return false, nil
	}
	switch p.peek() {
	case 't':
		return true, p.literal("true")
	case 'f':
		return false, p.literal("false")
	}
	return false, p.fail("true or false")
}

// Raw reads a value and returns its text, which aliases data; null is nil.
func (p *Parser) Raw() (json.RawMessage, error) {
	if p.Null() {
		return nil, nil
	}
	start := p.pos
	if err := p.Skip(); err != nil {
		return nil, err
	}
	return p.data[start:p.pos:p.pos], nil
}

// Unquoted reads a string and returns its text, which aliases data if it has no
// escapes.
func (p *Parser) Unquoted() ([]byte, error) {
	if p.peek() != '"' {
		return nil, p.fail("a string")
	}
	raw, escaped, err := p.str()
	if escaped && err == nil {
		raw = []byte(unescape(raw))
	}
	return raw, err
}

// Text reads a string; null is empty.
func (p *Parser) Text() (string, error) {
	if p.Null() {
		return "", nil
	}
	raw, err := p.Unquoted()
	return string(raw), err
}

// Ints reads a list of integers, of which null is 0. It is never nil without an error.
func (p *Parser) Ints() ([]int64, error) {
	list, err := readList(p, func(n *int64) (err error) { *n, err = p.Int(); return err })
	return append([]int64{}, list...), err
}

// Texts reads a list of strings, none of them null.
func (p *Parser) Texts() ([]string, error) {
	return readList(p, func(s *string) error {
		text, err := p.Unquoted()
		*s = string(text)
		return err
	})
}

// readList reads a list, each element with one. An empty list is nil.
func readList[T any](p *Parser, one func(*T) error) (list []T, err error) {
	err = p.Array(func() error {
		list = append(list, *new(T))
		return one(&list[len(list)-1])
	})
	return list, err
}

// unescape resolves the escapes of a string that str has read. A surrogate without
// its other half becomes U+FFFD.
func unescape(raw []byte) string {
	b := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		if raw[0] != '\\' {
			r, size := utf8.DecodeRune(raw)
			b, raw = utf8.AppendRune(b, r), raw[size:]
			continue
		}
		short := strings.IndexByte(`"\/bfnrt`, raw[1])
		if short >= 0 {
			b, raw = append(b, "\"\\/\b\f\n\r\t"[short]), raw[2:]
			continue
		}
		r, rest := codeUnit(raw)
		if utf16.IsSurrogate(r) {
			half, behind := codeUnit(rest)
			if r = utf16.DecodeRune(r, half); r != utf8.RuneError {
				rest = behind
			}
		}
		b, raw = utf8.AppendRune(b, r), rest
	}
	return string(b)
}

// codeUnit reads an escape of the form \uXXXX and returns what is behind it, -1 if there is
// no such escape.
func codeUnit(raw []byte) (rune, []byte) {
	const length = 6
	if len(raw) < length || raw[0] != '\\' || raw[1] != 'u' {
		return -1, raw
	}
	n, err := strconv.ParseUint(string(raw[2:length]), 16, 16)
	if err != nil {
		return -1, raw
	}
	return rune(n), raw[length:]
}

package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Null reads a null, if one is next.
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

// Raw reads any value as it stands; null is nil.
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

// Unquoted reads a string and returns its text, aliasing data where it can.
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

// Ints reads a list of integers.
func (p *Parser) Ints() ([]int64, error) {
	list := []int64{}
	err := p.Array(func() error {
		n, err := p.Int()
		list = append(list, n)
		return err
	})
	return list, err
}

// Texts reads a list of strings, none of them null.
func (p *Parser) Texts() ([]string, error) {
	var list []string
	err := p.Array(func() error {
		text, err := p.Unquoted()
		list = append(list, string(text))
		return err
	})
	return list, err
}

// unescape resolves the escapes of a string that str has read. Surrogates
// without their other half become U+FFFD.
func unescape(raw []byte) (s string) {
	quoted := append(append([]byte{'"'}, raw...), '"')
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(err) // str accepts exactly what encoding/json accepts
	}
	return s
}

package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
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
	start := p.pos
	raw, escaped, err := p.str()
	if escaped && err == nil {
		var text string // in which a surrogate without its other half is U+FFFD
		err = json.Unmarshal(p.data[start:p.pos], &text)
		raw = []byte(text)
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

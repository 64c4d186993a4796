package journal

import "fmt"

// maxDepth is how deep values may nest, counting the line's own object. It is
// encoding/json's limit, so that both accept the same lines.
const maxDepth = 10000

// A parser walks over JSON text. Its methods read one thing at pos, check it in
// full, and leave pos behind it. They accept what json.Valid accepts.
type parser struct {
	data  []byte
	pos   int
	depth int
}

// valid reports whether data is exactly one JSON value and can be part of a line.
func valid(data []byte) bool {
	p := parser{data: data, depth: 1}
	return p.value() == nil && p.end() == nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// peek skips white space and returns the byte after it, 0 at the end. A NUL in
// the text is as wrong as the end is, everywhere peek is used.
func (p *parser) peek() byte {
	for p.pos < len(p.data) && isSpace(p.data[p.pos]) {
		p.pos++
	}
	return p.at(p.pos)
}

func (p *parser) at(i int) byte {
	if i < len(p.data) {
		return p.data[i]
	}
	return 0
}

func (p *parser) fail(want string) error {
	if p.pos >= len(p.data) {
		return fmt.Errorf("ends early, %s expected", want)
	}
	return fmt.Errorf("%s expected at byte %d, not %q", want, p.pos+1, p.data[p.pos])
}

func (p *parser) end() error {
	if p.peek(); p.pos < len(p.data) {
		return p.fail("the end")
	}
	return nil
}

// value reads one value of any kind.
func (p *parser) value() error {
	switch c := p.peek(); {
	case c == '"':
		_, _, err := p.str()
		return err
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '-' || isDigit(c):
		return p.number()
	case c == 't':
		return p.literal("true")
	case c == 'f':
		return p.literal("false")
	}
	return p.literal("null")
}

func (p *parser) literal(word string) error {
	if len(p.data)-p.pos < len(word) || string(p.data[p.pos:p.pos+len(word)]) != word {
		return p.fail("a value")
	}
	p.pos += len(word)
	return nil
}

func (p *parser) object() error {
	more, err := p.enter('{', '}')
	for more && err == nil {
		if _, _, err = p.key(); err == nil {
			err = p.value()
		}
		if err == nil {
			more, err = p.another('}')
		}
	}
	return err
}

func (p *parser) array() error {
	more, err := p.enter('[', ']')
	for more && err == nil {
		if err = p.value(); err == nil {
			more, err = p.another(']')
		}
	}
	return err
}

// enter reads the opening bracket, and the closing one if nothing is between them.
func (p *parser) enter(open, shut byte) (more bool, err error) {
	if p.peek() != open {
		return false, p.fail(string(open))
	}
	p.pos++
	if p.depth++; p.depth > maxDepth {
		return false, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if p.peek() == shut {
		return false, p.leave()
	}
	return true, nil
}

// another reads what follows an element: a comma (true) or the closing bracket.
func (p *parser) another(shut byte) (more bool, err error) {
	switch p.peek() {
	case ',':
		p.pos++
		return true, nil
	case shut:
		return false, p.leave()
	}
	return false, p.fail("a comma or " + string(shut))
}

func (p *parser) leave() error {
	p.pos++
	p.depth--
	return nil
}

// key reads a member's name and the colon.
func (p *parser) key() (raw []byte, escaped bool, err error) {
	if p.peek() != '"' {
		return nil, false, p.fail("a name in quotes")
	}
	if raw, escaped, err = p.str(); err != nil {
		return nil, false, err
	}
	if p.peek() != ':' {
		return nil, false, p.fail("a colon")
	}
	p.pos++
	return raw, escaped, nil
}

// str reads a string at pos, which holds its opening quote, and returns what is
// between the quotes and whether escapes are in it.
func (p *parser) str() (raw []byte, escaped bool, err error) {
	data, i := p.data, p.pos+1
	start := i
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			p.pos = i + 1
			return data[start:i], escaped, nil
		case c == '\\':
			escaped = true
			if p.pos = i; !p.escape() {
				return nil, false, p.fail("a valid escape")
			}
			i = p.pos - 1
		case c < ' ':
			p.pos = i
			return nil, false, p.fail("no control character")
		}
	}
	p.pos = i
	return nil, false, p.fail("a closing quote")
}

// escape reads one escape sequence; on false pos is still at its backslash.
func (p *parser) escape() bool {
	switch p.at(p.pos + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.pos += 2
		return true
	case 'u':
		for i := 2; i < 6; i++ {
			if !isHex(p.at(p.pos + i)) {
				return false
			}
		}
		p.pos += 6
		return true
	}
	return false
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (p *parser) number() error {
	if p.at(p.pos) == '-' {
		p.pos++
	}
	if p.at(p.pos) == '0' {
		p.pos++
	} else if !p.digits() {
		return p.fail("a digit")
	}
	if p.at(p.pos) == '.' {
		if p.pos++; !p.digits() {
			return p.fail("a digit")
		}
	}
	return p.exponent()
}

func (p *parser) exponent() error {
	if c := p.at(p.pos); c != 'e' && c != 'E' {
		return nil
	}
	p.pos++
	if c := p.at(p.pos); c == '+' || c == '-' {
		p.pos++
	}
	if !p.digits() {
		return p.fail("a digit")
	}
	return nil
}

// digits reads as many digits as there are and reports whether there was one.
func (p *parser) digits() bool {
	start := p.pos
	for isDigit(p.at(p.pos)) {
		p.pos++
	}
	return p.pos > start
}

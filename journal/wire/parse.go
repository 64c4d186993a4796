package wire

import "fmt"

// MaxDepth is the depth to which values may nest, counting the object of the line
// itself. It is the limit of encoding/json, so that both accept the same lines.
const MaxDepth = 10000

// A Parser reads JSON text. Each method reads one thing at the parser's position,
// checks it in full, and moves the position behind it. The methods accept what
// json.Valid accepts. A parser is of no use after an error.
type Parser struct {
	data  []byte
	pos   int
	depth int

	portable bool // refuse text that is not portable, see Portable
}

// NewParser returns a parser at the start of data.
func NewParser(data []byte) *Parser { return &Parser{data: data} }

// Valid reports whether data is exactly one JSON value that can be the value of a
// key: it nests one level less than MaxDepth.
func Valid(data []byte) bool {
	p := Parser{data: data, depth: 1}
	return p.Skip() == nil && p.End() == nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// peek skips white space and returns the byte after it, 0 at the end. No caller needs
// to tell the end from a NUL, which is not valid between tokens.
func (p *Parser) peek() byte {
	for p.pos < len(p.data) && isSpace(p.data[p.pos]) {
		p.pos++
	}
	return p.at(p.pos)
}

func (p *Parser) at(i int) byte {
	if i < len(p.data) {
		return p.data[i]
	}
	return 0
}

func (p *Parser) fail(want string) error {
	if p.pos >= len(p.data) {
		return fmt.Errorf("ends early, %s expected", want)
	}
	return fmt.Errorf("%s expected at byte %d, not %q", want, p.pos+1, p.data[p.pos])
}

// End checks that nothing follows.
func (p *Parser) End() error {
	if p.peek(); p.pos < len(p.data) {
		return p.fail("the end")
	}
	return nil
}

// Skip reads one value of any kind.
func (p *Parser) Skip() error {
	switch c := p.peek(); {
	case c == '"':
		_, _, err := p.str()
		return err
	case c == '{':
		return p.Object(func([]byte) error { return p.Skip() })
	case c == '[':
		return p.Array(p.Skip)
	case c == '-' || isDigit(c):
		return p.number()
	case c == 't':
		return p.literal("true")
	case c == 'f':
		return p.literal("false")
	}
	return p.literal("null")
}

func (p *Parser) literal(word string) error {
	if len(p.data)-p.pos < len(word) || string(p.data[p.pos:p.pos+len(word)]) != word {
		return p.fail("a value")
	}
	p.pos += len(word)
	return nil
}

// Object reads an object. For each member it calls read with the name, which is valid
// until read returns. The parser is then at the value, which read must read.
func (p *Parser) Object(read func(name []byte) error) error {
	return p.list('{', '}', func() error {
		name, err := p.name()
		if err != nil {
			return err
		}
		return read(name)
	})
}

// Array reads an array. It calls read for each element, which read must read.
func (p *Parser) Array(read func() error) error { return p.list('[', ']', read) }

// list reads the elements between two brackets, which commas separate.
func (p *Parser) list(open, shut byte, read func() error) error {
	more, err := p.enter(open, shut)
	for more && err == nil {
		if err = read(); err == nil {
			more, err = p.next(shut)
		}
	}
	return err
}

// enter reads the opening bracket, and the closing one if no element follows. It reports whether
// one does.
func (p *Parser) enter(open, shut byte) (more bool, err error) {
	if p.peek() != open {
		return false, p.fail(string(open))
	}
	if p.depth++; p.depth > MaxDepth || p.portable && p.depth > MaxPortableDepth {
		return false, fmt.Errorf("nested deeper than %d", p.depth-1)
	}
	if p.pos++; p.peek() != shut {
		return true, nil
	}
	return p.next(shut)
}

// next reads what is behind an element: a comma, and then more is true, or the closing bracket.
func (p *Parser) next(shut byte) (more bool, err error) {
	c := p.peek()
	if c != ',' && c != shut {
		return false, p.fail("a comma or " + string(shut))
	}
	p.pos++
	if c == shut {
		p.depth--
	}
	return c == ',', nil
}

// name reads the name of a member and the colon.
func (p *Parser) name() ([]byte, error) {
	if p.peek() != '"' {
		return nil, p.fail("a name in quotes")
	}
	name, err := p.Unquoted()
	if err != nil {
		return nil, err
	}
	if p.peek() != ':' {
		return nil, p.fail("a colon")
	}
	p.pos++
	return name, nil
}

// str reads the string whose opening quote is at pos. It returns the text between the
// quotes, and whether that has escapes.
func (p *Parser) str() (raw []byte, escaped bool, err error) {
	data, i := p.data, p.pos+1
	start := i
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			p.pos = i + 1
			if p.portable {
				err = checkPortable(data[start:i], escaped)
			}
			return data[start:i], escaped, err
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

// escape reads one escape sequence. If it is not valid, pos stays at its backslash.
func (p *Parser) escape() bool {
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

func (p *Parser) number() error {
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

// digits reads digits and reports whether there was one.
func (p *Parser) digits() bool {
	start := p.pos
	for isDigit(p.at(p.pos)) {
		p.pos++
	}
	return p.pos > start
}

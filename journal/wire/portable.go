package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxPortableDepth is the depth to which a portable value may nest. The limits of
// common readers are not far above it: 256 of jq 1.6, 1000 of the JSON decoders of
// several languages.
const MaxPortableDepth = 100

// Portable checks that every reader of JSON can read raw, which must be a valid value:
// its strings and names are UTF-8, no escape in them is half of a surrogate pair, and
// it nests at most [MaxPortableDepth] deep. With an error, at is the path of the wrong
// part, such as "artifacts[0].note", cut to a readable length; it is "" for raw as a
// whole.
func Portable(raw []byte) (at string, err error) {
	const longest = 120
	p := Parser{data: raw, portable: true}
	if at, err = p.walk(""); len(at) > longest {
		at = strings.ToValidUTF8(at[:longest], "") + "…"
	}
	return at, err
}

// walk reads a value and returns the path of the part that is wrong. The value itself
// is at path.
func (p *Parser) walk(path string) (at string, err error) {
	at = path
	switch p.peek() {
	case '{':
		err = p.Object(func(name []byte) (err error) {
			if at, err = p.walk(strings.TrimPrefix(path+"."+string(name), ".")); err == nil {
				at = path
			}
			return err
		})
	case '[':
		n := 0
		err = p.Array(func() (err error) {
			if at, err = p.walk(path + "[" + strconv.Itoa(n) + "]"); err == nil {
				at = path
			}
			n++
			return err
		})
	default:
		err = p.Skip()
	}
	return at, err
}

// checkPortable checks what stands between the quotes of a string.
func checkPortable(raw []byte, escaped bool) error {
	if !utf8.Valid(raw) {
		return errors.New("is not valid UTF-8")
	}
	if half := unpaired(raw); escaped && half != "" {
		return fmt.Errorf("contains %s, which is half of a character (a surrogate without its other half)", half)
	}
	return nil
}

// unpaired returns the first escape in a valid string that is a surrogate without its
// other half, "" if there is none.
func unpaired(raw []byte) string {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, rest := codeUnit(raw[i:])
		half, _ := codeUnit(rest)
		switch {
		case unit < 0: // a short escape such as \n
			i++
		case !utf16.IsSurrogate(unit):
			i += 5
		case utf16.DecodeRune(unit, half) == utf8.RuneError:
			return string(raw[i : i+6])
		default:
			i += 11
		}
	}
	return ""
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

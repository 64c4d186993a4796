package cli

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line escapes s, which may be hostile, for a place within one line of text. Characters
// that would move the cursor, change colours, reorder or hide text become Go escapes
// (\x1b, \r, \n, \t, \u202e, \xff for a byte that is not UTF-8). All other characters
// stay as they are, so Line(Line(s)) is Line(s).
func Line(s string) string { return show(s, "") }

// Block is Line for text of several lines: newlines and tabs stay, and "\r\n"
// counts as a newline.
func Block(s string) string {
	return show(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

func show(s, allowed string) string {
	if isPlain(s) {
		return s
	}
	return escape(s, allowed, func(character string) string {
		quoted := strconv.QuoteToASCII(character)
		return quoted[1 : len(quoted)-1]
	})
}

// escape returns s with something else for each character, and each byte that is not UTF-8, that is neither visible nor
// allowed.
func escape(s, allowed string, instead func(character string) string) string {
	var b strings.Builder
	b.Grow(len(s) + 64)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		character := s[:size]
		if r == utf8.RuneError && size == 1 || !visible(r) && !strings.ContainsRune(allowed, r) {
			character = instead(character)
		}
		b.WriteString(character)
		s = s[size:]
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, as nearly all text is.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// visible reports whether r prints as itself. Control and formatting characters do
// not, except the two joiners, which emoji and several scripts need. Nor do the
// variation selectors, which can carry hidden text behind any letter.
func visible(r rune) bool {
	switch {
	case r < 0x80:
		return ' ' <= r && r <= '~'
	case r == zeroWidthNonJoiner, r == zeroWidthJoiner:
		return true
	case 0xe0100 <= r && r <= 0xe01ef:
		return false
	}
	return unicode.IsGraphic(r)
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

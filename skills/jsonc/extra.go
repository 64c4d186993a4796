package jsonc

import "bytes"

// A token is where a comment or a comma ends, or a bracket or a value if none
// stands between.
type token struct {
	end  int
	line bool // a line comment, which needs a line end behind it
}

// lastToken returns the last token of text[from:to], which holds nothing but
// comments, commas and white space; from itself if there are none. A line
// comment ends before its line end.
func lastToken(text []byte, from, to int) token {
	last := token{end: from}
	for i := from; i < to; {
		switch {
		case text[i] == ',':
			i++
			last = token{end: i}
		case text[i] == '/':
			line := text[i+1] == '/'
			i = commentEnd(text, i, to)
			last = token{i, line}
		default:
			i++
		}
	}
	return last
}

// comma returns the offset of the comma in text[from:to], -1 if there is none.
// Commas inside comments do not count.
func comma(text []byte, from, to int) int {
	for i := from; i < to; {
		switch text[i] {
		case ',':
			return i
		case '/':
			i = commentEnd(text, i, to)
		default:
			i++
		}
	}
	return -1
}

// commentEnd returns the end of the comment that starts at text[at].
func commentEnd(text []byte, at, to int) int {
	if at+1 < to && text[at+1] == '*' {
		if n := bytes.Index(text[at+2:to], []byte("*/")); n >= 0 {
			return at + 2 + n + 2
		}
		return to
	}
	end := to
	if n := bytes.IndexByte(text[at:to], '\n'); n >= 0 {
		end = at + n
	}
	if end > at && text[end-1] == '\r' {
		end--
	}
	return end
}

// withoutSpace returns text without JSON white space outside comments, for
// telling whether two interiors differ in more than layout.
func withoutSpace(text []byte) string {
	var out []byte
	for i := 0; i < len(text); {
		if text[i] == '/' {
			end := commentEnd(text, i, len(text))
			out = append(out, text[i:end]...)
			i = end
			continue
		}
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(text[i])) {
			out = append(out, text[i])
		}
		i++
	}
	return string(out)
}

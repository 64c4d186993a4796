package githook

import (
	"bytes"
	"slices"
)

// The marks around the lines of ours in a script, in which "#" starts a comment. Everything outside
// keeps its bytes, and withoutBlock is the exact inverse of withBlock. If the last line of a script has
// no line end it gets one before the block, and the end mark of the block has none: so withoutBlock knows
// about it.
const (
	beginMark = "# >>> talking-stick >>>"
	endMark   = "# <<< talking-stick <<<"
)

// withBlock returns src with a block that contains body after its first line,
// which names the interpreter of a script. If src has a block already, the block
// stays where it is and gets the new body.
func withBlock(src []byte, body string) []byte {
	text := beginMark + "\n" + body + endMark
	from, to, ok := findBlock(src)
	if !ok {
		from = lineEnd(src, 0)
		to = from
	}
	switch {
	case !ok && from > 0 && src[from-1] != '\n':
		text = "\n" + text
	case !ok || src[to-1] == '\n':
		text += "\n"
	}
	return slices.Concat(src[:from], withEOL(text, src), src[to:])
}

// withoutBlock returns src without its block, and whether there was one. A block without
// an end marker does not count, because its end is unknown.
func withoutBlock(src []byte) ([]byte, bool) {
	from, to, ok := findBlock(src)
	if !ok {
		return src, false
	}
	if to == len(src) && !bytes.HasSuffix(src, []byte("\n")) && from > 0 {
		from -= len(withEOL("\n", src[:from]))
	}
	return append(src[:from:from], src[to:]...), true
}

// findBlock returns the lines of the block, from its begin marker to behind the line
// end of its end marker.
func findBlock(src []byte) (from, to int, ok bool) {
	begun := false
	for at := 0; at < len(src); {
		next := lineEnd(src, at)
		switch string(bytes.TrimSpace(src[at:next])) {
		case beginMark:
			from, begun = at, true
		case endMark:
			if begun {
				return from, next, true
			}
		}
		at = next
	}
	return 0, 0, false
}

// lineEnd returns the offset of the end of the line that contains offset at.
func lineEnd(src []byte, at int) int {
	if n := bytes.IndexByte(src[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(src)
}

// withEOL returns text with the line ends of src.
func withEOL(text string, src []byte) []byte {
	if n := bytes.IndexByte(src, '\n'); n > 0 && src[n-1] == '\r' {
		return bytes.ReplaceAll([]byte(text), []byte("\n"), []byte("\r\n"))
	}
	return []byte(text)
}

package talk

import (
	"strings"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
)

// The lengths of the longest texts.
const (
	MaxMessage  = 4096  // bytes
	MaxNote     = 16384 // bytes, without white space around it
	MaxQuestion = 8000  // characters
	MaxAnswer   = 65536 // characters
)

// bounds are the bounds of the texts of each kind.
var bounds = map[string]struct {
	most     int
	unit     string
	tooLarge code.Code
	hint     string
}{
	KindMessage:  {MaxMessage, "bytes", code.MessageTooLarge, `leave longer texts as a note: "tt notes add --stdin"`},
	KindNote:     {MaxNote, "bytes", code.BodyTooLarge, "put the text into a file of the workspace and point at it"},
	KindQuestion: {MaxQuestion, "characters", code.BodyTooLarge, "put the text into a file of the workspace and name it"},
	KindAnswer:   {MaxAnswer, "characters", code.BodyTooLarge, "put the text into a file of the workspace and name it"},
}

// Check refuses a text of a kind that no room takes: one that is blank, or no text, or too long.
func Check(kind, text string) error {
	if kind == KindNote {
		text = strings.TrimSpace(text)
	}
	bound, size := bounds[kind], len(text)
	if bound.unit == "characters" {
		size = utf8.RuneCountInString(text)
	}
	switch {
	case size > bound.most:
		return code.New(bound.tooLarge, "the %s has %d %s, at most %d are allowed", kind, size, bound.unit, bound.most).
			With("supplied", size).WithHint("%s", bound.hint)
	case !utf8.ValidString(text):
		return code.New(code.InvalidBody, "the %s is not valid UTF-8", kind)
	case strings.TrimSpace(text) == "":
		return code.New(code.InvalidBody, "the %s is empty", kind)
	}
	return nil
}

// TooLarge is the code by which [Check] refuses a text of a kind that is too long.
func TooLarge(kind string) code.Code { return bounds[kind].tooLarge }

// Preview returns the first line of a text, cut to 120 characters.
func Preview(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > 120 {
		return string(runes[:119]) + "…"
	}
	return line
}

package questions

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// idLength is the length of every id: a letter for its kind and 44 random bits.
const idLength = 12

// Ids start with a letter, because agents turn "12345678" and "1e5" into numbers.
func newTopicID() string    { return newID('t') }
func newQuestionID() string { return newID('q') }
func newAnswerID() string   { return newID('a') }

func newID(kind byte) string {
	return fmt.Sprintf("%c%011x", kind, rand.Uint64()>>(64-44))
}

// IsID reports whether the text has the form of a topic's id. A text that has not
// must not become part of a path.
func IsID(text string) bool {
	return len(text) == idLength && text[0] == 't' && strings.Trim(text[1:], "0123456789abcdef") == ""
}

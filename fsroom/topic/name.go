package topic

import (
	"strings"
	"unicode"
)

// ValidateAgentName returns the name without surrounding white space. It has 1
// to 64 characters, none of which breaks a line or changes how the rest of it is
// shown: it ends up in headings that other agents read.
func ValidateAgentName(name string) (string, error) { return validateName("agent_name", name) }

func validateName(argument, name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", Invalid(argument, "must not be blank")
	}
	return name, oneLine(argument, name, MaxAgentNameChars)
}

// oneLine refuses what is longer than limit or not printable on one line.
func oneLine(argument, text string, limit int) error {
	if err := atMost(argument, text, limit); err != nil {
		return err
	}
	for _, r := range text {
		if breaksLine(r) {
			return Invalid(argument, "must not contain line breaks or control characters (found %U)", r)
		}
	}
	return nil
}

// breaksLine is true for control characters, line and paragraph separators and
// the marks that turn the direction of writing. Joiners, as in emoji, are fine.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

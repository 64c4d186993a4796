package cli

import "strings"

// Style marks up text for a terminal, or leaves it alone. The zero Style leaves it
// alone.
type Style struct{ on bool }

// Styled is text that can be written to a terminal as it is: escaped by [Line], and
// perhaps marked up.
type Styled string

// Bold is for headings and for the most important words.
func (s Style) Bold(text string) Styled { return s.mark("1", text) }

// Dim is for the least important words.
func (s Style) Dim(text string) Styled { return s.mark("2", text) }

// Red is for problems.
func (s Style) Red(text string) Styled { return s.mark("31", text) }

// Green is for good states.
func (s Style) Green(text string) Styled { return s.mark("32", text) }

// Yellow is for states that need attention.
func (s Style) Yellow(text string) Styled { return s.mark("33", text) }

func (s Style) mark(attribute, text string) Styled {
	text = Line(text)
	if !s.on || text == "" {
		return Styled(text)
	}
	return Styled("\x1b[" + attribute + "m" + text + "\x1b[0m")
}

// plain returns the text without its markup.
func (s Styled) plain() string {
	var plain strings.Builder
	for rest := string(s); ; {
		before, after, marked := strings.Cut(rest, "\x1b[")
		plain.WriteString(before)
		if !marked {
			return plain.String()
		}
		_, rest, _ = strings.Cut(after, "m")
	}
}

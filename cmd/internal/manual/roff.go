package manual

import "strings"

// A writer writes one page.
type writer struct{ b strings.Builder }

// newWriter begins a page with its title and NAME.
func newWriter(name, version, short string) *writer {
	w := &writer{}
	program, _, _ := strings.Cut(name, "-")
	w.line(".TH " + quoted(strings.ToUpper(name)) + ` 1 "" ` + quoted(program+" "+version))
	w.section("NAME")
	w.line(escape(name) + ` \- ` + escape(short))
	return w
}

func (w *writer) String() string { return w.b.String() }

func (w *writer) line(s string) { w.b.WriteString(s + "\n") }

func (w *writer) section(title string) { w.line(".SH " + quoted(title)) }

// item writes a term and, indented, its meaning.
func (w *writer) item(term, what string) {
	w.line(".TP")
	w.line(".B " + escape(term))
	if what != "" {
		w.line(escape(what))
	}
}

// paragraphs writes text as the help does: a paragraph that begins with a blank keeps
// its lines, all others are filled.
func (w *writer) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		w.line(".PP")
		verbatim := strings.HasPrefix(paragraph, " ")
		if verbatim {
			w.line(".nf")
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			w.line(escape(line))
		}
		if verbatim {
			w.line(".fi")
		}
	}
}

// escape makes text safe for a line of roff. There a backslash begins an escape, and
// a dot or a quote at the start of the line a request. A bare hyphen may be printed as
// another character, which a shell would not understand.
func escape(text string) string {
	text = strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`, "…", `\&...`,
	).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// quoted returns text as one argument of a request.
func quoted(text string) string {
	return `"` + escape(text) + `"`
}

// Package page writes a model as one HTML page that needs nothing else: no network, no
// other file. The tables are in the HTML, so that it can be read, searched and printed
// without JavaScript, which draws the chart from the model in the page.
//
// Everything in a model may be hostile. The template escapes what it writes, the model is
// JSON without <, > and &, the script sets texts and never HTML, and the page's policy
// allows this one script, this one style sheet, and no request.
package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/fsroom/code"
)

//go:embed page.html
var source string

//go:embed page.css
var style string

//go:embed chart.js
var chart string

//go:embed page.js
var controls string

// script is what the page runs.
var script = "\"use strict\";\n(() => {\n" + chart + controls + "})();\n"

// parsed returns the template; the console needs none.
var parsed = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Funcs(functions).Parse(source)) })

// A view is what the template shows.
type view struct {
	Model    *model.Model
	Sums     model.Totals
	Name     string
	Period   string
	Left     string // what the page does not have
	Policy   template.HTML
	Style    template.CSS
	Script   template.JS
	Data     template.JS
	Tiles    []tile
	Findings []model.Finding
	Unknown  string
	Version  string
	classes  []string // of the agents
}

type tile struct{ Value, Label, Note, Class string }

// Render returns the page. Version is that of the program.
func Render(m *model.Model, version string) ([]byte, error) { return render(m, version, style, script) }

func render(m *model.Model, version, style, script string) ([]byte, error) {
	data, err := json.Marshal(m) // escapes <, >, & and the two line separators of JavaScript
	if err != nil {
		return nil, err
	}
	data = visible(data, `\\u%04x`) // in a string of JavaScript
	sums := m.Totals()
	v := view{
		Model: m, Sums: sums, Name: cmp.Or(m.Path[strings.LastIndexAny(m.Path, `/\`)+1:], m.Path), Period: period(m), Version: version,
		classes: colourClasses(m),
		Policy:  template.HTML(policy(style, script)), Style: template.CSS(style), Script: template.JS(script), Data: template.JS(data),
		Tiles: tiles(m, sums), Findings: m.Findings(sums),
	}
	if m.Omitted > 0 {
		v.Left = fmt.Sprintf("These are the newest %d turns. %d older ones are left out; tt report --since and tt log show parts "+
			"of the history.", len(m.Turns), m.Omitted)
	}
	var unknown []string
	for kind, n := range m.Unknown {
		unknown = append(unknown, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(unknown)
	v.Unknown = strings.Join(unknown, ", ")
	var b bytes.Buffer
	b.Grow(8*len(data) + 1<<16)
	if err := parsed().Execute(&b, &v); err != nil {
		return nil, err
	}
	return visible(b.Bytes(), `\u%04x`), nil
}

// visible replaces the characters that a terminal would act on, or that hide or reorder text,
// by their number.
func visible(text []byte, format string) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	shown := make([]byte, 0, len(text)+len(text)/64)
	for _, r := range string(text) {
		if unicode.IsGraphic(r) || strings.ContainsRune("\n\t\u200c\u200d", r) { // the two joiners make emoji
			shown = utf8.AppendRune(shown, r)
		} else {
			shown = fmt.Appendf(shown, format, r)
		}
	}
	return shown
}

// policy returns the element that says what the browser may load: the style sheet and the
// script with these sums, and nothing else.
func policy(style, script string) string {
	return fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'">`,
		sum(style), sum(script))
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(h[:])
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func period(m *model.Model) string {
	from, to := at(m.From), at(m.To)
	end := to.Format("Mon 2 Jan 2006, 15:04")
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		end = to.Format("15:04")
	}
	return from.Format("Mon 2 Jan 2006, 15:04") + " – " + end + " UTC"
}

func tiles(m *model.Model, sums model.Totals) []tile {
	percent := 100 * sums.Held / max(1, sums.Work)
	list := []tile{
		counted(len(m.Turns), "turn", code.Count(len(m.Agents), "agent")),
		{model.Duration(sums.Held), "stick held", fmt.Sprintf("%d %% of %s at work", min(100, percent), model.Duration(sums.Work)), ""},
		{"–", "between turns", "", ""},
		counted(sums.Handoffs, "handoff", "of "+code.Count(len(m.Turns), "turn")),
		counted(sums.Takeovers, "takeover", "none"),
		{"–", "longest wait", "", ""},
		counted(len(m.Messages), "message", code.Count(len(m.Notes), "note")+fmt.Sprintf(", %d open", sums.OpenNotes)),
		counted(len(m.Questions), "question", fmt.Sprintf("%d open", sums.OpenAsks)),
	}
	if sums.Gap >= 0 {
		list[2].Value, list[2].Note = model.Duration(sums.Gap), "median; free "+model.Duration(sums.Free)+" in all"
	}
	if sums.Takeovers > 0 {
		list[4].Note, list[4].Class = "the red marks", "bad"
	}
	if w := sums.LongestWait; w != nil {
		list[5].Value, list[5].Note = model.Duration(w.Waited), m.Agents[w.Agent].ID
	}
	return list
}

func counted(n int, what, note string) tile {
	number, label, _ := strings.Cut(code.Count(n, what), " ")
	return tile{number, label, note, ""}
}

// colours is how many there are. The last is that of persons.
const colours = 8

// colourClasses returns the class of every agent: persons have a colour of their own.
func colourClasses(m *model.Model) []string {
	classes := make([]string, len(m.Agents))
	n := 0
	for i, a := range m.Agents {
		colour := colours - 1
		if a.Kind != "human" {
			colour = n % (colours - 1)
			n++
		}
		classes[i] = fmt.Sprintf("c%d", colour)
	}
	return classes
}

// functions are what the template calls beside the methods of a view.
var functions = template.FuncMap{
	"number": number, "duration": duration, "when": when,
	"began": func(t *model.Turn) string { return cmp.Or(beginnings[t.Kind], t.Kind) },
	"ended": func(t *model.Turn) string {
		words := cmp.Or(endings[t.EndedBy], t.EndedBy)
		if t.Files > 0 {
			words += fmt.Sprintf(", %s +%d −%d", code.Count(int(t.Files), "file"), t.Added, t.Removed)
			names := strings.Join(t.Paths, ", ")
			if more := int(t.Files) - len(t.Paths); names != "" && more > 0 {
				names += fmt.Sprintf(" and %d more", more)
			}
			if names != "" {
				words += " (" + names + ")"
			}
		}
		return words
	},
	"lost": func(t *model.Turn) bool { return t.EndedBy == "takeover" || t.EndedBy == "kick" || t.EndedBy == "lost" },
}

// Who returns the id of an agent.
func (v *view) Who(agent int) string { return v.Model.Agents[agent].ID }

// Class returns the class of an agent.
func (v *view) Class(agent int) string { return v.classes[agent] }

// Held returns the time of a turn.
func (v *view) Held(t *model.Turn) cell { return duration(v.Model.Finish(t) - t.Start) }

// Share returns how much of the time with the stick a time is, in percent.
func (v *view) Share(held int64) float64 { return 100 * float64(held) / float64(max(1, v.Sums.Held)) }

// A cell is an element for a number: as a text, and as a number to sort by. It is made
// here, because the template takes longer for the thousands of them than for all the rest.
type cell = template.HTML

const noNumber cell = `<td class="n none" data-v="0">–</td>`

func number(n int) cell {
	if n == 0 {
		return noNumber
	}
	return cell(fmt.Sprintf(`<td class="n" data-v="%d">%d</td>`, n, n))
}

func duration(ms int64) cell {
	if ms == 0 {
		return noNumber
	}
	return cell(fmt.Sprintf(`<td class="n" data-v="%d">%s</td>`, ms, model.Duration(ms)))
}

// when returns a time as a person and as a program reads it.
func when(ms int64) cell {
	t := at(ms)
	return cell(fmt.Sprintf(`<td class="t" data-v="%d"><time datetime="%s">%s</time></td>`,
		ms, t.Format(time.RFC3339), t.Format("2 Jan 15:04:05")))
}

// beginnings say how a turn began, and endings how it ended.
var (
	beginnings = map[string]string{
		"open_claim": "it was free", "sequence": "a handoff", "direct_pass": "an assignment", "lost": "a damaged event",
	}
	endings = map[string]string{
		"": "still held", "release": "released", "pass": "assigned", "takeover": "taken away", "kick": "removed", "member_left": "left",
		"close": "the room ended", "lost": "a damaged event",
	}
)

type saidRow struct {
	At              int64
	What            string
	From            int
	To, Text, State string
	Urgent          bool
}

// Said returns messages, notes, questions and answers in the order of their times.
func (v *view) Said() []saidRow {
	var rows []saidRow
	to := func(agent *int) string {
		if agent == nil {
			return "everybody"
		}
		return v.Who(*agent)
	}
	for _, x := range v.Model.Messages {
		rows = append(rows, saidRow{At: x.At, What: "message", From: x.From, To: to(x.To), Text: x.Body, Urgent: x.Interrupt})
	}
	for _, n := range v.Model.Notes {
		state := "open"
		if n.Resolved > 0 {
			state = "resolved"
		}
		rows = append(rows, saidRow{At: n.At, What: "note", From: n.From, To: to(n.For), Text: n.Body, Urgent: n.Page, State: state})
	}
	for i := range v.Model.Questions {
		q := &v.Model.Questions[i]
		rows = append(rows, saidRow{At: q.At, What: "question", From: q.From, To: v.Model.Addressee(q), Text: q.Text, State: q.Status})
		for _, a := range q.Answers {
			rows = append(rows, saidRow{At: a.At, What: "answer", From: a.From, To: v.Who(q.From), Text: a.Text})
		}
	}
	slices.SortStableFunc(rows, func(x, y saidRow) int { return cmp.Compare(x.At, y.At) })
	return rows
}

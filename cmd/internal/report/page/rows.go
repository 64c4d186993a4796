package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/fsroom/code"
)

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

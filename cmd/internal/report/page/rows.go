package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/talking-stick/tt/cmd/internal/report/model"
)

// colours is how many there are. The last is that of persons.
const colours = 8

// colourClasses returns the class of every agent: persons have a colour of their own.
func colourClasses(m *model.Model) []string {
	classes := make([]string, len(m.Agents))
	n := 0
	for i, a := range m.Agents {
		if a.Kind == "human" {
			classes[i] = fmt.Sprintf("c%d", colours-1)
			continue
		}
		classes[i] = fmt.Sprintf("c%d", n%(colours-1))
		n++
	}
	return classes
}

type agentRow struct {
	Class, ID                                                      string
	Turns, Held, Longest, Waited, Wait, Took, Overtaken, Sent, Got cell
	Share                                                          float64 // percent
}

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

func agentRows(m *model.Model, sums model.Totals) []agentRow {
	classes := colourClasses(m)
	var rows []agentRow
	for _, a := range sums.Agents {
		rows = append(rows, agentRow{
			Class: classes[a.Agent], ID: m.Agents[a.Agent].ID,
			Turns: number(a.Turns), Held: duration(a.Held), Longest: duration(a.Longest), Waited: duration(a.Waited), Wait: duration(a.LongestWait),
			Took: number(a.TookOver), Overtaken: number(a.WasOvertaken), Sent: number(a.Sent), Got: number(a.Got),
			Share: 100 * float64(a.Held) / float64(max(1, sums.Held)),
		})
	}
	return rows
}

type turnRow struct {
	Number                int64
	Class, Agent          string
	Start, Time           string // as a person and as a program reads it
	At                    int64
	Held, Waited          cell
	Began, From, Reason   string // From and Reason of a takeover
	Ended, To, EndReason  string
	Status, Next          string
	Artifacts             []string
	Questions, DoNot      []string
	Taken, Lost, IsHolder bool
}

// words says how a turn began.
var words = map[string]string{"open_claim": "it was free", "sequence": "a handoff", "direct_pass": "an assignment",
	"lost": "a damaged event"}

// endings say how a turn ended. Those of losing has somebody else's doing.
var (
	endings = map[string]string{
		"": "still held", "release": "released", "pass": "assigned", "takeover": "taken away", "kick": "removed", "member_left": "left",
		"close": "the room ended", "lost": "a damaged event",
	}
	losing = map[string]bool{"takeover": true, "kick": true, "lost": true}
)

func turnRows(m *model.Model) []turnRow {
	classes := colourClasses(m)
	rows := make([]turnRow, 0, len(m.Turns))
	for i := range m.Turns {
		t := &m.Turns[i]
		h := t.Read()
		r := turnRow{
			Number: t.Number, Class: classes[t.Agent], Agent: m.Agents[t.Agent].ID,
			At: t.Start, Start: at(t.Start).Format("2 Jan 15:04:05"), Time: at(t.Start).Format(time.RFC3339),
			Held: duration(m.Finish(t) - t.Start), Waited: duration(t.Waited), Began: cmp.Or(words[t.Kind], t.Kind), Reason: t.Reason,
			Ended: cmp.Or(endings[t.EndedBy], t.EndedBy), EndReason: t.EndReason, Status: h.Status, Next: h.NextAction,
			Questions: h.OpenQuestions, DoNot: h.DoNot,
			Lost: losing[t.EndedBy], IsHolder: t.End == 0,
		}
		if r.EndReason != "" && t.EndedBy == "takeover" { // it stands in the row of the next turn
			r.EndReason = ""
		}
		if t.TakenFrom != nil {
			r.Taken, r.From = true, m.Agents[*t.TakenFrom].ID
		}
		if t.To != nil {
			r.To = m.Agents[*t.To].ID
		}
		for _, a := range h.Artifacts {
			r.Artifacts = append(r.Artifacts, artifact(a))
		}
		rows = append(rows, r)
	}
	return rows
}

// artifact returns an artifact as a text: "parse.go:10-20 (edit): the loop".
func artifact(a model.Artifact) string {
	text := a.Path
	if len(a.Lines) == 2 {
		text += fmt.Sprintf(":%d-%d", a.Lines[0], a.Lines[1])
	}
	if a.Role != "" {
		text += " (" + a.Role + ")"
	}
	if a.Note != "" {
		text += ": " + a.Note
	}
	return text
}

type saidRow struct {
	At                int64
	Start, Time       string
	What, Class, From string
	To, Text, State   string
	Urgent            bool
}

// saidRows returns messages, notes, questions and answers in the order of their times.
func saidRows(m *model.Model) []saidRow {
	classes := colourClasses(m)
	var rows []saidRow
	add := func(when int64, what string, from int, to, text string) *saidRow {
		rows = append(rows, saidRow{
			At: when, Start: at(when).Format("2 Jan 15:04:05"), Time: at(when).Format(time.RFC3339),
			What: what, Class: classes[from], From: m.Agents[from].ID, To: to, Text: text,
		})
		return &rows[len(rows)-1]
	}
	name := func(to *int) string {
		if to == nil {
			return "everybody"
		}
		return m.Agents[*to].ID
	}
	for _, x := range m.Messages {
		add(x.At, "message", x.From, name(x.To), x.Body).Urgent = x.Interrupt
	}
	for _, n := range m.Notes {
		r := add(n.At, "note", n.From, name(n.For), n.Body)
		if r.Urgent, r.State = n.Page, "open"; n.Resolved > 0 {
			r.State = "resolved"
		}
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		add(q.At, "question", q.From, m.Addressee(q), q.Text).State = q.Status
		for _, a := range q.Answers {
			add(a.At, "answer", a.From, m.Agents[q.From].ID, a.Text)
		}
	}
	slices.SortStableFunc(rows, func(x, y saidRow) int { return cmp.Compare(x.At, y.At) })
	return rows
}

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// A Finding is something that a reader of the report should look at.
type Finding struct {
	Turn  int64 // its number; 0: it is about no turn
	Title string
	Text  string
	Bad   bool
}

// What is long enough to be mentioned, in milliseconds.
const (
	longOffer = 5 * 60 * 1000
	longWait  = 10 * 60 * 1000
)

// Findings returns what to look at, what went wrong first.
func (m *Model) Findings(sums Totals) []Finding {
	f := findings{m: m}
	f.now()
	f.takeovers()
	f.offers()
	f.questions()
	f.pages()
	if w := sums.LongestWait; w != nil && w.Waited >= longWait {
		f.add(w, false, "Longest wait: "+Duration(w.Waited), f.who(w.Agent)+", until turn "+fmt.Sprint(w.Number))
	}
	f.longestTurn()
	f.openQuestion()
	f.journal()
	return f.list
}

type findings struct {
	m    *Model
	list []Finding
}

func (f *findings) who(agent int) string { return f.m.Agents[agent].ID }

func (f *findings) add(t *Turn, bad bool, title, text string) {
	found := Finding{Title: title, Text: text, Bad: bad}
	if t != nil {
		found.Turn = t.Number
	}
	f.list = append(f.list, found)
}

// now says how the history ends.
func (f *findings) now() {
	m := f.m
	if n := len(m.Turns); n > 0 && m.Turns[n-1].End == 0 {
		t := &m.Turns[n-1]
		f.add(t, false, f.who(t.Agent)+" has the stick", fmt.Sprintf("turn %d, for %s", t.Number, Duration(m.Finish(t)-t.Start)))
	}
	if n := len(m.Lives); n > 0 && m.Lives[n-1].endSeq > 0 {
		l := &m.Lives[n-1]
		text := "nobody was there any more"
		if l.By != nil {
			text = "closed by " + f.who(*l.By)
		}
		if l.Reason != "" {
			text += ": " + l.Reason
		}
		f.add(nil, false, "The room has ended", text)
	}
}

// takeovers lists takeovers, by their kind if they are many.
func (f *findings) takeovers() {
	const many = 5
	kinds := map[string][]*Turn{}
	n := 0
	for i := range f.m.Turns {
		if t := &f.m.Turns[i]; t.TakenFrom != nil {
			kinds[t.Kind] = append(kinds[t.Kind], t)
			n++
		}
	}
	say := func(t *Turn) string {
		text := f.who(t.Agent) + " from " + f.who(*t.TakenFrom)
		if t.Reason != "" {
			text += ": " + t.Reason
		}
		return text
	}
	var groups [][]*Turn
	for _, g := range kinds {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(x, y []*Turn) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x[0].Seq, y[0].Seq))
	})
	var single []*Turn
	for _, g := range groups {
		if last := g[len(g)-1]; n >= many && len(g) > 1 {
			f.add(last, true, fmt.Sprintf("%d × taken over: %s", len(g), strings.ReplaceAll(last.Kind, "_", " ")),
				fmt.Sprintf("the last time turn %d, %s", last.Number, say(last)))
			continue
		}
		single = append(single, g...)
	}
	slices.SortFunc(single, func(x, y *Turn) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, t := range single {
		f.add(t, true, fmt.Sprintf("Turn %d was taken over", t.Number), say(t))
	}
}

// offers lists the longest reservations that were not claimed.
func (f *findings) offers() {
	const most = 2
	m := f.m
	length := func(o *Span) int64 {
		if o.End == 0 {
			return m.To - o.Start
		}
		return o.End - o.Start
	}
	var long []*Span
	for i := range m.Offered {
		if o := &m.Offered[i]; length(o) >= longOffer {
			long = append(long, o)
		}
	}
	slices.SortStableFunc(long, func(x, y *Span) int { return cmp.Compare(length(y), length(x)) })
	for _, o := range long[:min(most, len(long))] {
		i := slices.IndexFunc(m.Turns, func(t Turn) bool { return o.endSeq > 0 && t.Seq == o.endSeq })
		var next *Turn
		if i >= 0 {
			next = &m.Turns[i]
		}
		title, text := " did not come for ", "the stick was reserved, and nobody could work"
		if o.endSeq == 0 {
			title, text = " has not come for ", "the stick is reserved for it, and nobody can work"
		}
		f.add(next, true, f.who(o.Agent)+title+Duration(length(o)), text)
	}
}

// questions says which questions are open.
func (f *findings) questions() {
	var open []*Question
	for i := range f.m.Questions {
		if q := &f.m.Questions[i]; q.Status == statusOpen && len(q.Answers) == 0 {
			open = append(open, q)
		}
	}
	if len(open) == 0 {
		return
	}
	q := open[0]
	title := "A question has no answer"
	if len(open) > 1 {
		title = fmt.Sprintf("%d questions have no answer", len(open))
	}
	f.add(nil, true, title, f.who(q.From)+" asked "+f.m.Addressee(q)+": "+q.Text)
}

// Addressee says whom a question is for.
func (m *Model) Addressee(q *Question) string {
	switch {
	case q.Person:
		return "a person"
	case q.To != nil:
		return m.Agents[*q.To].ID
	}
	return "anybody"
}

// pages says which urgent notes are open.
func (f *findings) pages() {
	var open []*Note
	for i := range f.m.Notes {
		if n := &f.m.Notes[i]; n.Page && n.Resolved == 0 {
			open = append(open, n)
		}
	}
	switch len(open) {
	case 0:
	case 1:
		f.add(nil, true, "An urgent note is open", open[0].Body)
	default:
		f.add(nil, true, fmt.Sprintf("%d urgent notes are open", len(open)), open[0].Body)
	}
}

func (f *findings) longestTurn() {
	m := f.m
	var longest *Turn
	for i := range m.Turns {
		if t := &m.Turns[i]; longest == nil || m.Finish(t)-t.Start > m.Finish(longest)-longest.Start {
			longest = t
		}
	}
	if len(m.Turns) < 2 {
		return
	}
	text := fmt.Sprintf("%s, turn %d", f.who(longest.Agent), longest.Number)
	if h := longest.Read(); h.Status != "" {
		text += ": " + h.Status
	}
	f.add(longest, false, "Longest turn: "+Duration(m.Finish(longest)-longest.Start), text)
}

// openQuestion shows the last question of the last handoff that has one.
func (f *findings) openQuestion() {
	for i := len(f.m.Turns) - 1; i >= 0; i-- {
		t := &f.m.Turns[i]
		if q := t.Read().OpenQuestions; len(q) > 0 {
			f.add(t, false, "The last question in a handoff", q[len(q)-1])
			return
		}
	}
}

// journal says what is odd about the events themselves.
func (f *findings) journal() {
	if n := len(f.m.Damaged); n > 0 {
		f.add(nil, true, code.Count(n, "event")+" damaged and lost", fmt.Sprintf("event %d; what happened there is not known", f.m.Damaged[0].Seq))
	}
	if n := len(f.m.Steps); n > 0 {
		s := f.m.Steps[n-1]
		f.add(nil, false, "The clock was set back "+code.Count(n, "time"),
			fmt.Sprintf("the last time by %s, before event %d; events are in the order of their numbers", Duration(s.Back), s.Seq))
	}
}

// Duration returns a number of milliseconds in words: "340 ms", "12 s", "3 min 30 s",
// "41 min", "4 h 51", "3 d 2 h".
func Duration(ms int64) string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	s := (ms + 500) / 1000
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case s < minute:
		return fmt.Sprintf("%d s", s)
	case s < 10*minute && s%minute > 0:
		return fmt.Sprintf("%d min %d s", s/minute, s%minute)
	case s < hour:
		return fmt.Sprintf("%d min", s/minute)
	case s < 2*day:
		return fmt.Sprintf("%d h %02d", s/hour, s%hour/minute)
	}
	return fmt.Sprintf("%d d %d h", s/day, s%day/hour)
}

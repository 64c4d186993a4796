package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
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
	taken := which(f.m.Turns, func(t *Turn) bool { return t.TakenFrom != nil })
	say := func(t *Turn) string {
		text := f.who(t.Agent) + " from " + f.who(*t.TakenFrom)
		if t.Reason != "" {
			text += ": " + t.Reason
		}
		return text
	}
	kinds := map[string][]*Turn{}
	for _, t := range taken {
		kinds[t.Kind] = append(kinds[t.Kind], t)
	}
	groups := slices.SortedFunc(maps.Values(kinds), func(x, y []*Turn) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x[0].Seq, y[0].Seq))
	})
	grouped := func(t *Turn) bool { return len(taken) >= many && len(kinds[t.Kind]) > 1 }
	for _, g := range groups {
		if last := g[len(g)-1]; grouped(last) {
			f.add(last, true, fmt.Sprintf("%d × taken over: %s", len(g), strings.ReplaceAll(last.Kind, "_", " ")),
				fmt.Sprintf("the last time turn %d, %s", last.Number, say(last)))
		}
	}
	for _, t := range taken {
		if !grouped(t) {
			f.add(t, true, fmt.Sprintf("Turn %d was taken over", t.Number), say(t))
		}
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
	long := which(m.Offered, func(o *Span) bool { return length(o) >= longOffer })
	slices.SortStableFunc(long, func(x, y *Span) int { return cmp.Compare(length(y), length(x)) })
	for _, o := range long[:min(most, len(long))] {
		var next *Turn
		if i := slices.IndexFunc(m.Turns, func(t Turn) bool { return o.endSeq > 0 && t.Seq == o.endSeq }); i >= 0 {
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
	open := which(f.m.Questions, func(q *Question) bool { return q.Status == topic.Open && len(q.Answers) == 0 })
	if len(open) > 0 {
		q := open[0]
		f.add(nil, true, several(len(open), "A question has no answer", "%d questions have no answer"),
			f.who(q.From)+" asked "+f.m.Addressee(q)+": "+q.Text)
	}
}

// which returns the items of a list that the function is true of.
func which[T any](list []T, is func(*T) bool) (found []*T) {
	for i := range list {
		if is(&list[i]) {
			found = append(found, &list[i])
		}
	}
	return found
}

func several(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
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
	if open := which(f.m.Notes, func(n *Note) bool { return n.Page && n.Resolved == 0 }); len(open) > 0 {
		f.add(nil, true, several(len(open), "An urgent note is open", "%d urgent notes are open"), open[0].Body)
	}
}

func (f *findings) longestTurn() {
	if len(f.m.Turns) < 2 {
		return
	}
	held := func(t *Turn) int64 { return f.m.Finish(t) - t.Start }
	longest := slices.MaxFunc(f.m.Turns, func(x, y Turn) int { return cmp.Compare(held(&x), held(&y)) })
	text := fmt.Sprintf("%s, turn %d", f.who(longest.Agent), longest.Number)
	if h := longest.Read(); h.Status != "" {
		text += ": " + h.Status
	}
	f.add(&longest, false, "Longest turn: "+Duration(held(&longest)), text)
}

// openQuestion shows the last question of the last handoff that has one.
func (f *findings) openQuestion() {
	for i := range slices.Backward(f.m.Turns) {
		if q := f.m.Turns[i].Read().OpenQuestions; len(q) > 0 {
			f.add(&f.m.Turns[i], false, "The last question in a handoff", q[len(q)-1])
			return
		}
	}
}

// journal says what is odd about the events themselves.
func (f *findings) journal() {
	n := len(f.m.Damaged)
	for _, d := range f.m.Damaged {
		n += int(max(0, d.To-d.Seq))
	}
	if n > 0 {
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

package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/talking-stick/tt/fsroom/topic"
)

// Totals are sums over a model. Times are milliseconds.
type Totals struct {
	Held        int64 // by all turns together
	Work        int64 // of the time without the idle parts
	Gap         int64 // from a turn to the next, the median; -1: there was no next
	Free        int64 // of Work, what nobody held
	Handoffs    int
	Takeovers   int
	LongestWait *Turn // the turn that was waited for longest; nil: there was no waiting
	OpenNotes   int
	OpenAsks    int
	Agents      []AgentTotals // who held the stick longest first
}

// AgentTotals are the sums of one agent.
type AgentTotals struct {
	Agent        int
	Turns        int
	Held         int64
	Longest      int64
	Waited       int64
	LongestWait  int64
	TookOver     int
	WasOvertaken int
	Sent, Got    int // messages, questions and answers to it by name
}

// Totals returns the sums over m.
func (m *Model) Totals() Totals {
	by := make([]AgentTotals, len(m.Agents))
	for i := range by {
		by[i].Agent = i
	}
	sums := Totals{Gap: -1, Agents: by}
	var gaps []int64
	for i := range m.Turns {
		t := &m.Turns[i]
		held, a := m.Finish(t)-t.Start, &by[t.Agent]
		a.Turns++
		a.Held, a.Longest = a.Held+held, max(a.Longest, held)
		a.Waited, a.LongestWait = a.Waited+t.Waited, max(a.LongestWait, t.Waited)
		sums.Held += held
		if len(t.Handoff) > 0 {
			sums.Handoffs++
		}
		if t.Waited > 0 && (sums.LongestWait == nil || t.Waited > sums.LongestWait.Waited) {
			sums.LongestWait = t
		}
		if t.TakenFrom != nil {
			sums.Takeovers++
			a.TookOver++
			by[*t.TakenFrom].WasOvertaken++
		} else if i > 0 {
			gaps = append(gaps, max(0, t.Start-m.Finish(&m.Turns[i-1])))
		}
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		sums.Gap = gaps[len(gaps)/2]
	}
	sent := func(from int, to *int) {
		by[from].Sent++
		if to != nil {
			by[*to].Got++
		}
	}
	for _, x := range m.Messages {
		sent(x.From, x.To)
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		sent(q.From, q.To)
		for _, a := range q.Answers {
			sent(a.From, &q.From)
		}
		if q.Status == topic.Open {
			sums.OpenAsks++
		}
	}
	for _, n := range m.Notes {
		if n.Resolved == 0 {
			sums.OpenNotes++
		}
	}
	sums.Work = m.To - m.From
	for _, g := range m.Idle {
		sums.Work -= g.End - g.Start
	}
	sums.Free = max(0, sums.Work-sums.Held)
	slices.SortStableFunc(by, func(x, y AgentTotals) int { return cmp.Compare(y.Held, x.Held) })
	return sums
}

// quiet is the time without an event and without a turn after which a room counts as
// idle, in milliseconds.
const quiet = 20 * 60 * 1000

// idle returns the times in which the room was idle.
func (b *Builder) idle() []Gap {
	m := &b.m
	var busy []Gap
	for _, e := range b.events {
		busy = append(busy, Gap{e.at, e.at})
	}
	for i := range m.Turns {
		busy = append(busy, Gap{m.Turns[i].Start, m.Finish(&m.Turns[i])})
	}
	for i := range m.Questions {
		q := &m.Questions[i]
		busy = append(busy, Gap{q.At, q.At})
		for _, a := range q.Answers {
			busy = append(busy, Gap{a.At, a.At})
		}
	}
	for _, o := range m.Offered {
		if o.End == 0 {
			o.End = m.To
		}
		busy = append(busy, Gap{o.Start, o.End})
	}
	slices.SortFunc(busy, func(x, y Gap) int { return cmp.Compare(x.Start, y.Start) })
	gaps, end := []Gap{}, m.From
	for _, g := range busy {
		if g.Start-end > quiet {
			gaps = append(gaps, Gap{end, g.Start})
		}
		end = max(end, g.End)
	}
	return gaps
}

// A Trace is a model as trace events, the JSON that ui.perfetto.dev and Chromium's
// tracing read. A thread is an agent.
type Trace struct {
	Events []TraceEvent   `json:"traceEvents"`
	Unit   string         `json:"displayTimeUnit"`
	Other  map[string]any `json:"otherData"`
}

// A TraceEvent is a turn (X), a takeover or a note (i), or the start and the end of a
// message or a handoff (s, f). Times are microseconds since the beginning of the model.
type TraceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	At       int64          `json:"ts"`
	Duration int64          `json:"dur,omitempty"`
	ID       string         `json:"id,omitempty"`
	Binding  string         `json:"bp,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// Trace returns the trace of m.
func (m *Model) Trace() Trace {
	t := Trace{Unit: "ms", Other: map[string]any{"room": m.Room, "path": m.Path, "from": m.From}}
	add := func(e TraceEvent) {
		e.Process = 1
		t.Events = append(t.Events, e)
	}
	us := func(at int64) int64 { return max(0, at-m.From) * 1000 }
	point := func(name string, agent int, at int64, text string) {
		add(TraceEvent{Name: name, Category: "said", Phase: "i", Thread: agent + 1, At: us(at), Scope: "t", Args: map[string]any{"text": text}})
	}
	flow := func(name, id string, from int, at int64, to int, until int64) {
		add(TraceEvent{Name: name, Category: "flow", Phase: "s", ID: id, Thread: from + 1, At: us(at)})
		add(TraceEvent{Name: name, Category: "flow", Phase: "f", ID: id, Binding: "e", Thread: to + 1, At: us(until)})
	}
	add(TraceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": m.Path}})
	for i, a := range m.Agents {
		add(TraceEvent{Name: "thread_name", Phase: "M", Thread: i + 1, Args: map[string]any{"name": a.ID}})
	}
	for i := range m.Turns {
		x := &m.Turns[i]
		args := map[string]any{"kind": x.Kind, "waited_ms": x.Waited, "ended_by": x.EndedBy}
		if len(x.Handoff) > 0 {
			args["handoff"] = x.Handoff
		}
		add(TraceEvent{
			Name: fmt.Sprintf("turn %d", x.Number), Category: "turn", Phase: "X", Thread: x.Agent + 1,
			At: us(x.Start), Duration: max(1, us(m.Finish(x))-us(x.Start)), Args: args,
		})
		if x.TakenFrom != nil {
			point("takeover from "+m.Agents[*x.TakenFrom].ID, x.Agent, x.Start, x.Reason)
		} else if i > 0 {
			before := &m.Turns[i-1]
			flow("handoff", fmt.Sprintf("h%d", x.Seq), before.Agent, max(before.Start, m.Finish(before)-1), x.Agent, x.Start)
		}
	}
	for _, x := range m.Messages {
		point("message", x.From, x.At, x.Body)
		if x.To != nil {
			flow("message", fmt.Sprintf("m%d", x.Seq), x.From, x.At, *x.To, x.At)
		}
	}
	for _, n := range m.Notes {
		point("note", n.From, n.At, n.Body)
	}
	for _, q := range m.Questions {
		point("question", q.From, q.At, q.Text)
		for i, a := range q.Answers {
			point("answer", a.From, a.At, a.Text)
			flow("answer", fmt.Sprintf("%s.%d", q.ID, i), q.From, q.At, a.From, a.At)
		}
	}
	return t
}

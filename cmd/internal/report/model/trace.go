package model

import "fmt"

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

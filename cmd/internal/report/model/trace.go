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

const traceProcess = 1

// Trace returns the trace of m.
func (m *Model) Trace() Trace {
	t := tracer{m: m, trace: Trace{Unit: "ms", Other: map[string]any{"room": m.Room, "path": m.Path, "from": m.From}}}
	t.add(TraceEvent{Name: "process_name", Phase: "M", Args: map[string]any{"name": m.Path}})
	for i, a := range m.Agents {
		t.add(TraceEvent{Name: "thread_name", Phase: "M", Thread: i + 1, Args: map[string]any{"name": a.ID}})
	}
	for i := range m.Turns {
		t.turn(i)
	}
	for _, x := range m.Messages {
		t.point("message", x.From, x.At, x.Body)
		if x.To != nil {
			t.flow("message", fmt.Sprintf("m%d", x.Seq), x.From, x.At, *x.To, x.At)
		}
	}
	for _, n := range m.Notes {
		t.point("note", n.From, n.At, n.Body)
	}
	for _, q := range m.Questions {
		t.point("question", q.From, q.At, q.Text)
		for i, a := range q.Answers {
			t.point("answer", a.From, a.At, a.Text)
			t.flow("answer", fmt.Sprintf("%s.%d", q.ID, i), q.From, q.At, a.From, a.At)
		}
	}
	return t.trace
}

type tracer struct {
	m     *Model
	trace Trace
}

func (t *tracer) add(e TraceEvent) {
	e.Process = traceProcess
	t.trace.Events = append(t.trace.Events, e)
}

// us returns a time of the model in microseconds since its beginning.
func (t *tracer) us(at int64) int64 { return max(0, at-t.m.From) * 1000 }

func (t *tracer) turn(i int) {
	turn := &t.m.Turns[i]
	args := map[string]any{"kind": turn.Kind, "waited_ms": turn.Waited, "ended_by": turn.EndedBy}
	if len(turn.Handoff) > 0 {
		args["handoff"] = turn.Handoff
	}
	start, end := t.us(turn.Start), t.us(t.m.Finish(turn))
	t.add(TraceEvent{
		Name: fmt.Sprintf("turn %d", turn.Number), Category: "turn", Phase: "X", Thread: turn.Agent + 1,
		At: start, Duration: max(1, end-start), Args: args,
	})
	switch {
	case turn.TakenFrom != nil:
		t.point("takeover from "+t.m.Agents[*turn.TakenFrom].ID, turn.Agent, turn.Start, turn.Reason)
	case i > 0:
		before := &t.m.Turns[i-1]
		t.flow("handoff", fmt.Sprintf("h%d", turn.Seq), before.Agent, max(before.Start, t.m.Finish(before)-1), turn.Agent, turn.Start)
	}
}

func (t *tracer) point(name string, agent int, at int64, text string) {
	t.add(TraceEvent{Name: name, Category: "said", Phase: "i", Thread: agent + 1, At: t.us(at), Scope: "t",
		Args: map[string]any{"text": text}})
}

func (t *tracer) flow(name, id string, from int, at int64, to int, until int64) {
	t.add(TraceEvent{Name: name, Category: "flow", Phase: "s", ID: id, Thread: from + 1, At: t.us(at)})
	t.add(TraceEvent{Name: name, Category: "flow", Phase: "f", ID: id, Binding: "e", Thread: to + 1, At: t.us(until)})
}

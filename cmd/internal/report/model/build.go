package model

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// A Builder makes a model of events. Give it the events of the room in order with
// [Builder.Add], then those of the room's topic with [Builder.AddQuestion], and then
// call [Builder.Model]. The zero Builder is ready for the first event, and forgets a life
// of the room when the next one is opened, unless AllLives is set.
type Builder struct {
	AllLives bool

	m      Model
	index  map[string]int // of agents by id
	asks   map[string]int // of questions by id
	here   map[int]int    // the span in Here of each member
	last   int64          // the time of the last event
	events []mark
}

// A mark is what is kept of every event.
type mark struct {
	seq, at int64
	unknown string // its type, if that is unknown
}

// begin forgets what there was. A list without items is [] in JSON, and not null.
func (b *Builder) begin() {
	*b = Builder{AllLives: b.AllLives, index: map[string]int{}, asks: map[string]int{}, here: map[int]int{}, m: Model{
		Agents: []Agent{}, Turns: []Turn{}, Offered: []Span{}, Here: []Span{}, Messages: []Message{}, Notes: []Note{},
		Questions: []Question{}, Lives: []Life{},
	}}
}

// Add takes the next event of the room into account.
func (b *Builder) Add(e *event.Event) {
	if e.Type == turn.RoomOpened && !b.AllLives || b.index == nil {
		b.begin()
	}
	m, at := &b.m, b.clock(e)
	m.Room = e.RoomID
	b.events = append(b.events, mark{seq: e.Seq, at: at})
	if n := len(m.Lives); n == 0 || e.Type == turn.RoomOpened || m.Lives[n-1].endSeq > 0 {
		m.Lives = append(m.Lives, Life{Start: at, Seq: e.Seq})
	}
	switch e.Type {
	case turn.RoomOpened:
		var p struct {
			Path string `json:"canonical_path"`
		}
		_ = json.Unmarshal(e.Payload, &p)
		m.Path = p.Path
	case turn.MemberJoined:
		b.joined(e, at)
	case turn.MemberLeft:
		b.removed(e, b.agent(e.From), at)
	case turn.Kicked:
		b.removed(e, b.agent(e.To), at)
	case turn.Claim, turn.Takeover:
		b.granted(e, at)
	case turn.Released, turn.Passed:
		b.released(e, at)
	case talk.MessageSent:
		w := talk.Of(e)
		m.Messages = append(m.Messages, Message{At: at, From: b.agent(w.From), To: b.ref(w.To), Body: w.Text, Interrupt: w.Urgent, Seq: w.Seq})
	case talk.NoteAdded:
		w := talk.Of(e)
		m.Notes = append(m.Notes, Note{At: at, From: b.agent(w.From), For: b.ref(w.To), Body: w.Text, Page: w.Urgent, Seq: w.Seq, id: w.ID})
	case turn.NoteResolved:
		b.resolved(turn.EntryOf(e).NoteID, at)
	case turn.Closed:
		b.closed(e, at)
	case turn.PolicyChanged, turn.JobEnded:
	case turn.TreeChanged:
		b.changed(e)
	case turn.JournalDamaged:
		l := event.LostOf(e)
		m.Damaged = slices.DeleteFunc(m.Damaged, func(d Oddity) bool { return l.Has(d.Seq) }) // a repair has put them there
		m.Damaged = append(m.Damaged, Oddity{At: at, Seq: l.From, To: l.To})
	case event.Damaged: // by a repair, in the place of one that could not be read
		m.Damaged = append(m.Damaged, Oddity{At: at, Seq: e.Seq})
	default:
		b.events[len(b.events)-1].unknown = e.Type
	}
}

// mostPaths is how many files of a turn are named.
const mostPaths = 5

// changed notes which files a turn has changed.
func (b *Builder) changed(e *event.Event) {
	var p struct {
		Span    string `json:"span"`
		Turn    int64  `json:"turn_id"`
		Files   int64  `json:"files"`
		Added   int64  `json:"added"`
		Removed int64  `json:"removed"`
		Paths   []struct {
			Path string `json:"path"`
		} `json:"paths"`
	}
	_ = json.Unmarshal(e.Payload, &p) // what cannot be read is not shown
	for i := range slices.Backward(b.m.Turns) {
		if t := &b.m.Turns[i]; p.Span == turn.SpanTurn && t.Number == p.Turn {
			t.Files, t.Added, t.Removed, t.Paths = p.Files, p.Added, p.Removed, nil
			for _, f := range p.Paths[:min(len(p.Paths), mostPaths)] {
				t.Paths = append(t.Paths, f.Path)
			}
			return
		}
	}
}

// clock returns the time of the event, that of the one before if it has none, and notes
// where the clock was set back. Events that were written at once may differ by a little.
func (b *Builder) clock(e *event.Event) int64 {
	const tolerated = 1000
	at := b.last
	if !e.CreatedAt.IsZero() {
		at = e.CreatedAt.UnixMilli()
	}
	if at < b.last-tolerated {
		b.m.Steps = append(b.m.Steps, Oddity{At: at, Back: b.last - at, Seq: e.Seq})
	}
	b.last = at
	return at
}

// agent returns the index of an agent.
func (b *Builder) agent(id string) int {
	if i, ok := b.index[id]; ok {
		return i
	}
	kind, _, _ := strings.Cut(id, ":")
	b.m.Agents = append(b.m.Agents, Agent{ID: id, Kind: kind})
	b.index[id] = len(b.m.Agents) - 1
	return b.index[id]
}

func (b *Builder) ref(id string) *int {
	if id == "" {
		return nil
	}
	i := b.agent(id)
	return &i
}

func (b *Builder) joined(e *event.Event, at int64) {
	a, observer := b.agent(e.From), turn.EntryOf(e).Observer
	if i, ok := b.here[a]; ok {
		if !b.m.Here[i].Observer || observer {
			return
		}
		b.m.Here[i].end(e, at) // it is a full member from now on
	}
	b.here[a] = len(b.m.Here)
	b.m.Here = append(b.m.Here, Span{Agent: a, Start: at, Observer: observer, Seq: e.Seq})
}

// removed ends the membership of an agent, its turn and its reservation.
func (b *Builder) removed(e *event.Event, agent int, at int64) {
	if i, ok := b.here[agent]; ok {
		b.m.Here[i].end(e, at)
		delete(b.here, agent)
	}
	if t := b.current(); t != nil && t.Agent == agent {
		b.end(e, at)
	}
	if o := b.offer(); o != nil && o.Agent == agent {
		o.end(e, at)
	}
}

// end ends the span, if there is one, never before it began.
func (s *Span) end(e *event.Event, at int64) {
	if s != nil {
		s.End, s.EndedBy, s.endSeq = max(s.Start, at), e.Type, e.Seq
	}
}

// current returns the turn that is held, nil if none is.
func (b *Builder) current() *Turn {
	if n := len(b.m.Turns); n > 0 && b.m.Turns[n-1].EndSeq == 0 {
		return &b.m.Turns[n-1]
	}
	return nil
}

// offer returns the reservation that is open, nil if there is none.
func (b *Builder) offer() *Span {
	if n := len(b.m.Offered); n > 0 && b.m.Offered[n-1].endSeq == 0 {
		return &b.m.Offered[n-1]
	}
	return nil
}

// end ends the turn that is held, if one is, never before it began, and returns it.
func (b *Builder) end(e *event.Event, at int64) *Turn {
	t := b.current()
	if t != nil {
		t.End, t.EndedBy, t.EndReason, t.EndSeq = max(t.Start, at), e.Type, e.Reason, e.Seq
	}
	return t
}

// lost is how a turn began or ended whose event was damaged.
const lost = "lost"

func (b *Builder) granted(e *event.Event, at int64) {
	if t := b.end(e, at); t != nil && e.Type == turn.Claim {
		t.EndedBy = lost
	}
	b.offer().end(e, at)
	x := turn.EntryOf(e)
	t := Turn{Number: e.Turn, Agent: b.agent(e.To), Start: at, Kind: x.Grant, Reason: e.Reason, Waited: max(0, *x.Waited), Seq: e.Seq}
	if e.Type == turn.Takeover {
		t.TakenFrom = b.ref(e.From)
	}
	b.m.Turns = append(b.m.Turns, t)
}

func (b *Builder) released(e *event.Event, at int64) {
	if t := b.current(); t == nil || t.Agent != b.agent(e.From) {
		b.foundEnd(e, at)
	}
	t := b.end(e, at)
	t.Handoff, t.To = e.Clone().Handoff, b.ref(e.To)
	if e.To != "" {
		b.m.Offered = append(b.m.Offered, Span{Agent: *t.To, Start: at, Seq: e.Seq})
	}
}

// foundEnd adds the turn that a release ends and whose grant was damaged: it began at
// the damaged event.
func (b *Builder) foundEnd(e *event.Event, at int64) {
	if t := b.end(e, at); t != nil {
		t.EndedBy = lost
	}
	t := Turn{Number: e.Turn, Agent: b.agent(e.From), Start: at, Kind: lost, Seq: e.Seq}
	if n := len(b.m.Damaged); n > 0 {
		t.Start, t.Seq = min(at, b.m.Damaged[n-1].At), b.m.Damaged[n-1].Seq
	}
	if o := b.offer(); o != nil {
		o.end(e, t.Start)
		o.EndedBy = lost
	}
	b.m.Turns = append(b.m.Turns, t)
}

func (b *Builder) resolved(id string, at int64) {
	for i := len(b.m.Notes) - 1; i >= 0; i-- {
		if n := &b.m.Notes[i]; n.id == id && id != "" {
			n.Resolved = max(n.At, at)
			return
		}
	}
}

// closed ends the life of the room and all that is in it.
func (b *Builder) closed(e *event.Event, at int64) {
	b.end(e, at)
	b.offer().end(e, at)
	for _, i := range b.here {
		b.m.Here[i].end(e, at)
	}
	clear(b.here)
	l := &b.m.Lives[len(b.m.Lives)-1]
	l.End, l.By, l.Reason, l.endSeq = max(l.Start, at), b.ref(e.From), e.Reason, e.Seq
}

// AddQuestion takes the next event of the room's topic into account.
func (b *Builder) AddQuestion(e *event.Event) {
	if b.index == nil {
		return
	}
	id, text := topic.Words(e)
	i, known := b.asks[id]
	at := e.CreatedAt.UnixMilli()
	switch {
	case e.Type == topic.EventAsked && !known:
		q := Question{ID: id, At: at, From: b.agent(e.From), Text: text, Status: topic.Open, Answers: []Answer{}}
		if q.Person = e.To == "human"; !q.Person {
			q.To = b.ref(e.To)
		}
		b.asks[q.ID] = len(b.m.Questions)
		b.m.Questions = append(b.m.Questions, q)
	case !known:
	case e.Type == topic.EventAnswer:
		q := &b.m.Questions[i]
		q.Answers = append(q.Answers, Answer{At: max(q.At, at), From: b.agent(e.From), Text: text})
	case e.Type == topic.EventMarked:
		b.m.Questions[i].settle(topic.Answered, at, "")
	case e.Type == topic.EventCancelled:
		b.m.Questions[i].settle(topic.Cancelled, at, e.Reason)
	}
}

func (q *Question) settle(status string, at int64, reason string) {
	q.Status, q.Settled, q.Reason = status, max(q.At, at), reason
}

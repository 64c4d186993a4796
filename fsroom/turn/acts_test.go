package turn_test

import (
	"encoding/json"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// What agents do. As every command does, each act notes that its agent was here.

func (w *world) join(id string) []event.Event { return w.joinAs(id, "", false) }

// observe lets an agent join as an observer.
func (w *world) observe(id string) []event.Event { return w.joinAs(id, "", true) }

func (w *world) joinAs(id, display string, observe bool) []event.Event {
	w.t.Helper()
	w.seen(id)
	events := turn.Join(w.state, turn.JoinRequest{
		Agent: id, DisplayName: display, Observer: observe, SessionKind: "harness_cli", CanonicalPath: path, WorkspaceRoot: "/work", Policy: w.policy,
	})
	w.commit(events, nil)
	return events
}

func (w *world) leave(id string) (turn.LeaveResult, error) {
	w.t.Helper()
	w.seen(id)
	events, res, err := turn.Leave(w.state, w.facts(), id)
	w.commit(events, err)
	return res, err
}

func (w *world) kick(id, target string, force bool) (turn.LeaveResult, error) {
	w.t.Helper()
	w.seen(id)
	events, res, err := turn.Kick(w.state, w.facts(), turn.KickRequest{Agent: id, Target: target, Reason: "why not", Force: force})
	w.commit(events, err)
	return res, err
}

func (w *world) try(id string) (turn.WaitResult, error) {
	w.t.Helper()
	return w.tryWith(turn.TryRequest{Agent: id, Lease: w.newID("lease")})
}

func (w *world) park(id string) (turn.WaitResult, error) {
	w.t.Helper()
	return w.tryWith(turn.TryRequest{Agent: id, Lease: w.newID("lease"), Park: true})
}

func (w *world) tryWith(r turn.TryRequest) (turn.WaitResult, error) {
	w.t.Helper()
	w.seen(r.Agent)
	w.presence(r.Agent).Waited = w.wall
	events, res, err := turn.Try(w.state, w.facts(), r)
	w.commit(events, err)
	w.remember(r.Agent, res)
	return res, err
}

func (w *world) take(r turn.TakeRequest) (turn.WaitResult, error) {
	w.t.Helper()
	w.seen(r.Agent)
	r.Lease = w.newID("lease")
	events, res, err := turn.Take(w.state, w.facts(), r)
	w.commit(events, err)
	w.remember(r.Agent, res)
	return res, err
}

// remember keeps every fence that was ever given out.
func (w *world) remember(id string, res turn.WaitResult) {
	if res.Status == turn.YourTurn {
		w.fences = append(w.fences, turn.Fence{Agent: id, Turn: res.TurnID, Lease: res.LeaseID})
	}
}

// fence is what the present owner shows.
func (w *world) fence() turn.Fence {
	return turn.Fence{Agent: w.state.Owner, Turn: w.state.Turn, Lease: w.state.Grant.Lease}
}

func (w *world) release(f turn.Fence) (turn.ReleaseResult, error) {
	w.t.Helper()
	w.seen(f.Agent)
	events, res, err := turn.Release(w.state, w.facts(), turn.ReleaseRequest{Fence: f, Handoff: json.RawMessage(note)})
	e := w.commit(events, err)
	w.same("event_seq of the release", res.EventSeq, e.Seq)
	return res, err
}

func (w *world) assign(f turn.Fence, target string) (turn.ReleaseResult, error) {
	w.t.Helper()
	w.seen(f.Agent)
	events, res, err := turn.Assign(w.state, w.facts(), turn.ReleaseRequest{Fence: f, Handoff: json.RawMessage(note)}, target)
	e := w.commit(events, err)
	w.same("event_seq of the pass", res.EventSeq, e.Seq)
	return res, err
}

func (w *world) close(r turn.CloseRequest) (turn.CloseResult, error) {
	w.t.Helper()
	w.seen(r.Agent)
	events, res, err := turn.Close(w.state, w.facts(), r)
	e := w.commit(events, err)
	w.same("event_seq of the close", res.EventSeq, e.Seq)
	return res, err
}

// beat is the guardian's heartbeat: it renews the lease and nothing else.
func (w *world) beat() {
	w.lease.Fence = w.state.Fence()
	w.lease.Renew(w.now(), w.state.Policy, turn.ProcessID{})
}

func (w *world) send(id, to, body string) error {
	w.t.Helper()
	w.seen(id)
	events, err := turn.Send(w.state, w.facts(), turn.MessageRequest{Agent: id, To: to, Body: body})
	w.commit(events, err)
	return err
}

// endJob tells an agent of the end of its job.
func (w *world) endJob(id string, number int64, outcome string) {
	w.t.Helper()
	w.commit(turn.EndJob(w.state, turn.JobEndRequest{Agent: id, At: w.now().Wall, JobEnd: talk.JobEnd{ID: number, Name: "test", Outcome: outcome}}), nil)
}

func (w *world) addNote(r turn.NoteRequest) (string, error) {
	w.t.Helper()
	w.seen(r.Agent)
	r.ID = w.newID("note")
	events, err := turn.AddNote(w.state, w.facts(), r)
	w.commit(events, err)
	return r.ID, err
}

func (w *world) resolve(id, noteID string) (string, error) {
	w.t.Helper()
	w.seen(id)
	events, whole, err := turn.ResolveNote(w.state, id, noteID, func() []talk.NoteView {
		var h talk.NoteHistory
		for i := range w.events {
			h.Add(&w.events[i])
		}
		return h.All(w.state.Notes)
	})
	w.commit(events, err)
	return whole, err
}

func (w *world) setPolicy(id string, change func(*turn.Policy)) {
	w.t.Helper()
	events, _, err := turn.SetPolicy(w.state, id, func(p *turn.Policy) error { change(p); return nil })
	w.commit(events, err)
	if err != nil {
		w.t.Fatalf("policy: %v", err)
	}
}

// How answers read in tables: "your_turn sequence", "not_yet owned",
// "takeover_available owner_gone", "reserved for b", or the code of a refusal.

func answer(res turn.WaitResult, err error) string {
	switch {
	case err != nil:
		return string(code.Of(err))
	case res.Status == turn.NotYet:
		return res.Status + " " + res.RoomState
	case res.Reason == "":
		return res.Status
	}
	return res.Status + " " + res.Reason
}

func (w *world) tries(id string) string { w.t.Helper(); return answer(w.try(id)) }
func (w *world) parks(id string) string { w.t.Helper(); return answer(w.park(id)) }
func (w *world) takes(id string) string {
	w.t.Helper()
	return answer(w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id}, Reason: "it is stuck"}))
}

// orders takes the turn on behalf of an operator.
func (w *world) orders(id string) string {
	w.t.Helper()
	return answer(w.take(turn.TakeRequest{TryRequest: turn.TryRequest{Agent: id}, Reason: "I said so", Operator: true}))
}

// releases ends the owner's turn and says whose turn is next.
func (w *world) releases() string {
	w.t.Helper()
	_, err := w.release(w.fence())
	return w.next(err)
}

func (w *world) assigns(target string) string {
	w.t.Helper()
	_, err := w.assign(w.fence(), target)
	return w.next(err)
}

func (w *world) next(err error) string {
	switch s := w.state; {
	case err != nil:
		return string(code.Of(err))
	case s.ReservedFor != "":
		return "reserved for " + s.ReservedFor
	case s.Pending.Preferred != "":
		return "kept for " + s.Pending.Preferred
	}
	return "open"
}

func (w *world) same(what string, got, want int64) {
	w.t.Helper()
	if got != want {
		w.t.Fatalf("%s: got %d, want %d", what, got, want)
	}
}

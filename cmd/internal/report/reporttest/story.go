// Package reporttest makes histories of a room for tests, benchmarks and the screenshot
// in README.md. They are invented, and the same every time.
package reporttest

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// Path is the canonical path of the room, and Room its id if it is not asked for another.
const (
	Path = "/home/alex/src/payments"
	Room = "payments-5009ec41113e0df2"
)

// Begin is when the history begins.
var Begin = time.Date(2026, 11, 19, 8, 12, 4, 0, time.UTC)

const (
	alice  = "claude:1f2e3d4c"
	codex  = "codex:8a77b001"
	gemini = "gemini:5c0ffee5"
	open   = "opencode:77aa31c9"
	second = "claude:0badcafe"
	person = "human:alex"
)

// A story is a history that is being told.
type story struct {
	yield   func(*event.Event) bool
	stopped bool
	rand    *rand.Rand
	at      time.Time
	seq     int64
	turn    int64
	turns   int // how many there shall be
	holder  string
	handoff int64 // the event_seq of the last one
	members []string
	waiting map[string]time.Time // since when
	said    int
	done    int
}

// Events returns the events of a history of so many turns: handoffs, messages and notes;
// every 55 turns or so a holder dies and is taken over, a person steps in, a reservation
// is not claimed, there is a break at noon, and a night.
func Events(turns int) iter.Seq[*event.Event] {
	return func(yield func(*event.Event) bool) {
		s := &story{yield: yield, rand: rand.New(rand.NewPCG(1, 8)), at: Begin, turns: turns, waiting: map[string]time.Time{}}
		s.add(event.Event{Type: turn.RoomOpened, From: alice}, map[string]any{"format": 1, "canonical_path": Path, "workspace_root": Path, "policy": map[string]any{}})
		s.join(alice)
		s.grant(alice, "", "open_claim")
		for _, a := range []string{codex, gemini, open} {
			s.pass(40*time.Second, 4*time.Minute)
			s.join(a)
		}
		for !s.over() {
			s.day()
		}
	}
}

func (s *story) over() bool { return s.stopped || s.turn >= int64(s.turns) }

// day tells what happens between two nights.
func (s *story) day() {
	s.work(10)
	s.death()
	s.work(8)
	s.rest(78 * time.Minute)
	if !s.here(second) {
		s.join(second)
	}
	s.work(9)
	s.stepIn()
	s.work(9)
	s.forget()
	s.work(7)
	s.rest(14*time.Hour + 12*time.Minute)
	s.work(12)
}

func (s *story) add(e event.Event, payload any) {
	if s.stopped {
		return
	}
	s.seq++
	e.Seq, e.ID, e.RoomID, e.Turn, e.CreatedAt = s.seq, fmt.Sprintf("00000000-0000-4000-8000-%012x", s.seq), Room, s.turn, event.NewTime(s.at)
	if payload != nil {
		e.Payload, _ = json.Marshal(payload)
	}
	s.stopped = !s.yield(&e)
}

// pass lets some time pass.
func (s *story) pass(least, most time.Duration) {
	s.at = s.at.Add(least + time.Duration(s.rand.Int64N(int64(most-least)+1)))
}

func (s *story) here(a string) bool { _, ok := s.waiting[a]; return ok }

func (s *story) join(a string) {
	s.members = append(s.members, a)
	s.waiting[a] = s.at
	s.add(event.Event{Type: turn.MemberJoined, From: a}, map[string]any{"display_name": a, "session_kind": "harness_cli"})
}

func (s *story) gone(a string) {
	s.members = slices.DeleteFunc(s.members, func(m string) bool { return m == a })
	delete(s.waiting, a)
}

func (s *story) grant(to, from, kind string) {
	waited := min(s.at.Sub(s.waiting[to])*time.Duration(50+s.rand.IntN(48))/100, time.Duration(22+s.rand.IntN(20))*time.Minute)
	s.turn++
	payload := map[string]any{"kind": kind, "lease_id": "00000000", "waited_ms": waited.Milliseconds()}
	if s.handoff > 0 {
		payload["handoff_event_seq"] = s.handoff
	}
	s.add(event.Event{Type: turn.Claim, From: from, To: to}, payload)
	s.holder = to
}

func (s *story) takeOver(by, from, kind, reason string) {
	s.turn++
	s.add(event.Event{Type: turn.Takeover, From: from, To: by, Reason: reason}, map[string]any{"kind": kind, "lease_id": "00000000", "waited_ms": 0})
	s.holder = by
}

// next returns whose turn it is after the holder.
func (s *story) next() string {
	i := slices.Index(s.members, s.holder)
	for j := 1; i >= 0 && j < len(s.members); j++ {
		if n := s.members[(i+j)%len(s.members)]; n != person {
			return n
		}
	}
	return s.members[0]
}

// work tells n turns.
func (s *story) work(n int) {
	for range n {
		if s.over() {
			return
		}
		s.talk()
		s.pass(30*time.Second, time.Duration(2+s.rand.IntN(16))*time.Minute)
		s.release(s.next())
	}
}

// release hands over to an agent, which takes the stick up at once or a little later.
func (s *story) release(to string) {
	from, kind := s.holder, turn.Released
	if s.rand.IntN(5) == 0 {
		kind = turn.Passed
	}
	reserved := to
	if kind == turn.Released && s.rand.IntN(8) == 0 {
		reserved = ""
	}
	s.add(event.Event{Type: kind, From: from, To: reserved, Handoff: s.handoffOf()}, nil)
	s.handoff = s.seq
	s.waiting[from] = s.at
	if s.over() {
		return
	}
	if reserved == "" {
		s.pass(20*time.Second, 6*time.Minute)
	} else {
		s.pass(3*time.Millisecond, 3*time.Second)
	}
	s.grant(to, from, map[string]string{turn.Released: "sequence", turn.Passed: "direct_pass"}[kind])
}

// rest ends the turn, and nothing happens for a while.
func (s *story) rest(d time.Duration) {
	if s.over() {
		return
	}
	from := s.holder
	s.add(event.Event{Type: turn.Released, From: from, Handoff: s.handoffOf()}, nil)
	s.handoff = s.seq
	s.at = s.at.Add(d)
	for a := range s.waiting {
		s.waiting[a] = s.at.Add(-200 * time.Millisecond)
	}
	s.grant(s.next(), from, "sequence")
}

// death ends the process of the holder.
func (s *story) death() {
	if s.over() {
		return
	}
	s.pass(5*time.Minute, 6*time.Minute)
	dead, by := s.holder, s.next()
	s.takeOver(by, dead, "owner_gone", "its process has ended in the middle of a turn; the parser is half edited")
	s.pass(20*time.Second, time.Minute)
	s.add(event.Event{Type: turn.Kicked, From: by, To: dead, Reason: "gone"}, nil)
	s.gone(dead)
	s.work(3)
	s.join(dead)
}

// stepIn lets a person take the stick.
func (s *story) stepIn() {
	if s.over() {
		return
	}
	s.join(person)
	s.pass(20*time.Second, time.Minute)
	s.say(person, "", "this looks like a loop: I take the stick", true)
	s.pass(10*time.Second, 20*time.Second)
	from := s.holder
	s.takeOver(person, from, "operator_override", "the same test failed 14 times in a row")
	s.pass(3*time.Minute, 4*time.Minute)
	s.release(s.next())
	s.pass(time.Minute, 2*time.Minute)
	s.add(event.Event{Type: turn.MemberLeft, From: person}, map[string]any{"reason": "left"})
	s.gone(person)
}

// forget assigns the stick to an agent that does not come.
func (s *story) forget() {
	if s.over() {
		return
	}
	s.pass(time.Minute, 4*time.Minute)
	asleep := s.next()
	s.add(event.Event{Type: turn.Passed, From: s.holder, To: asleep, Handoff: s.handoffOf()}, nil)
	s.handoff = s.seq
	s.at = s.at.Add(21 * time.Minute)
	by := s.holder
	for _, m := range s.members {
		if m != asleep && m != s.holder {
			by = m
		}
	}
	s.takeOver(by, asleep, "claim_timeout", "not claimed for 20 minutes")
}

var handoffs = []string{
	`{"status":"amount parsing is out of ledger.Post","next_action":"write the table test for negative amounts","artifacts":[{"path":"ledger/money.go","lines":[10,88],"role":"edit"}],"open_questions":["should -0 be refused?"],"do_not":["rename Amount"]}`,
	`{"status":"table test for negative amounts; 3 cases are red","next_action":"make TestNegative/rounding pass","artifacts":[{"path":"ledger/money_test.go","lines":[1,140],"role":"edit"}]}`,
	`{"status":"rounding is banker's now; everything is green but TestImport","next_action":"look at TestImport: its fixture has commas","artifacts":[{"path":"testdata/import.csv","role":"examine","note":"line 7"}],"do_not":["touch testdata/golden/"]}`,
	`{"status":"the importer takes both formats, behind a flag","next_action":"review importer/flag.go, then remove the TODO"}`,
	`{"status":"importer reviewed; two remarks as notes","next_action":"answer the notes, then migrate the staging schema","do_not":["merge before the review"]}`,
	`{"status":"migration 0042 is written, and tried on a copy: 41 s","next_action":"run it on staging when the lock db-staging is free","open_questions":["who has the staging database today?"]}`,
	`{"status":"staging is migrated; the API returns amounts as strings","next_action":"change the TypeScript client to BigInt","artifacts":[{"path":"client/src/amount.ts","lines":[1,44],"role":"edit"}]}`,
	`{"status":"the client compiles; 12 snapshots differ","next_action":"look at each of them; do not update them blindly","open_questions":["is 0.10 to be shown as 0.1?"]}`,
	`{"status":"snapshots looked at one by one: 2 were real defects","next_action":"fix formatAmount for zero and for JPY"}`,
	`{"status":"formatAmount is right, the docs say so","next_action":"cut a release candidate","artifacts":[{"path":"CHANGELOG.md","role":"edit"}]}`,
}

func (s *story) handoffOf() json.RawMessage {
	s.done++
	return json.RawMessage(handoffs[(s.done-1)%len(handoffs)])
}

var talk = []struct{ from, to, body string }{
	{codex, alice, "which branch are you on?"}, {alice, codex, "payments/amounts, rebased on main an hour ago"}, {gemini, "", "I am in docs/ only, no code"},
	{alice, "", "CI is red because of me, I am on it"}, {open, alice, "is money.go:31 meant to be exported?"}, {alice, open, "no, make it lower-case when you have the stick"},
	{second, codex, "the golden files are mine, please leave them"}, {codex, second, "understood"}, {person, "", "the release is at 16:00; no migrations after 15:00"},
	{codex, "", "staging is slow today: 4 s a query"}, {alice, codex, `use </script><img src=x onerror=alert(1)> in the fixture`}, {open, "", "日本語 and emoji 👩‍👩‍👧 parse fine in amounts"},
}

// talk tells what is said during a turn.
func (s *story) talk() {
	for s.rand.IntN(5) < 3 {
		s.pass(5*time.Second, time.Minute)
		x := talk[s.said%len(talk)]
		s.said++
		if s.here(x.from) && (x.to == "" || s.here(x.to)) {
			s.say(x.from, x.to, x.body, x.from == person)
		}
	}
	if s.rand.IntN(7) == 0 {
		s.note()
	}
}

func (s *story) say(from, to, body string, urgent bool) {
	hint := turn.HintNormal
	if urgent {
		hint = turn.HintInterrupt
	}
	s.add(event.Event{Type: turn.MessageSent, From: from, To: to}, map[string]any{"body": body, "delivery_hint": hint})
}

func (s *story) note() {
	severity, body := "info", "the fixture of TestParse is shared with TestPrint: change both"
	if s.rand.IntN(3) == 0 {
		severity, body = turn.SeverityPage, "CI has no jq: the coverage step fails until somebody adds it"
	}
	id := fmt.Sprintf("note-%d", s.seq)
	author := s.members[s.rand.IntN(len(s.members))]
	s.add(event.Event{Type: turn.NoteAdded, From: author}, map[string]any{"note_id": id, "severity": severity, "body": body, "body_preview": body})
	if s.rand.IntN(2) == 0 {
		s.pass(time.Second, time.Minute)
		s.add(event.Event{Type: turn.NoteResolved, From: s.holder}, map[string]any{"note_id": id})
	}
}

// Questions returns the events of the room's topic.
func Questions() iter.Seq[*event.Event] {
	type m = map[string]any
	at := func(hours, minutes int) event.Time {
		return event.NewTime(Begin.Add(time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute))
	}
	events := []struct {
		e event.Event
		p m
	}{
		{event.Event{Type: topic.EventAsked, From: codex, To: alice, CreatedAt: at(0, 31)}, m{"question_id": "q1", "question_text": "Is rounding to be banker's everywhere, or in the ledger only?"}},
		{event.Event{Type: topic.EventAnswer, From: alice, To: codex, CreatedAt: at(0, 40)}, m{"question_id": "q1", "answer_id": "a1", "answer_markdown": "Everywhere. See `ledger/money.go`."}},
		{event.Event{Type: topic.EventMarked, From: codex, CreatedAt: at(0, 41)}, m{"question_id": "q1"}},
		{event.Event{Type: topic.EventAsked, From: gemini, To: "human", CreatedAt: at(3, 50)}, m{"question_id": "q2", "question_text": "May I drop the table amounts_old on staging?"}},
	}
	return func(yield func(*event.Event) bool) {
		for i, x := range events {
			x.e.Seq, x.e.RoomID = int64(i+1), "t5009ec41113"
			x.e.Payload, _ = json.Marshal(x.p)
			if !yield(&x.e) {
				return
			}
		}
	}
}

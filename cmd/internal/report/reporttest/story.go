// Package reporttest makes a history of a room for tests, benchmarks and the screenshot
// in README.md. It is invented, and the same every time.
package reporttest

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
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

// agents have the stick one after the other.
var agents = []string{alice, codex, gemini, open, second}

// A story is a history that is being told.
type story struct {
	events []*event.Event
	rand   *rand.Rand
	at     time.Time
	turn   int64
	holder string
	freed  map[string]time.Time // when each agent gave the stick away, and began to wait
	done   int                  // handoffs
	said   int                  // messages
}

type payload map[string]any

// Events returns the events of a history of so many turns: handoffs, messages and notes. In
// every 55 turns a holder dies and is taken over, a person steps in, a reservation is not
// claimed, and there is a break at noon, and a night.
func Events(turns int) iter.Seq[*event.Event] {
	s := &story{rand: rand.New(rand.NewPCG(1, 8)), at: Begin, freed: map[string]time.Time{}}
	const path = "/home/alex/src/payments"
	s.add(turn.RoomOpened, alice, "", payload{"format": 1, "canonical_path": path, "workspace_root": path})
	for _, a := range agents {
		s.join(a)
	}
	for s.grant(turn.Claim, alice, "", "open_claim"); s.turn < int64(turns); {
		s.next()
	}
	return slices.Values(s.events)
}

func (s *story) add(kind, from, to string, p payload) *event.Event {
	e := &event.Event{Seq: int64(len(s.events) + 1), RoomID: "payments-5009ec41113e0df2", Turn: s.turn, Type: kind, From: from, To: to, CreatedAt: event.NewTime(s.at)}
	e.ID = fmt.Sprintf("00000000-0000-4000-8000-%012x", e.Seq)
	e.Payload, _ = json.Marshal(p)
	s.events = append(s.events, e)
	return e
}

// pass lets some time pass.
func (s *story) pass(least, most time.Duration) {
	s.at = s.at.Add(least + time.Duration(s.rand.Int64N(int64(most-least))))
}

func (s *story) join(a string) {
	s.add(turn.MemberJoined, a, "", payload{"display_name": a, "session_kind": "harness_cli"})
	s.pass(20*time.Second, time.Minute)
}

// grant begins a turn.
func (s *story) grant(how, to, from, kind string) *event.Event {
	s.turn++
	s.holder = to
	p := payload{"kind": kind, "lease_id": "00000000"}
	if since, waits := s.freed[to]; waits && how == turn.Claim {
		p["waited_ms"] = min(s.at.Sub(since)*time.Duration(50+s.rand.IntN(48))/100, 41*time.Minute).Milliseconds()
	}
	return s.add(how, from, to, p)
}

// release ends a turn.
func (s *story) release(how, to string) {
	s.add(how, s.holder, to, nil).Handoff = json.RawMessage(handoffs[s.done%len(handoffs)])
	s.freed[s.holder] = s.at
	s.done++
}

// next tells what happens until there is another turn.
func (s *story) next() {
	from, i := s.holder, slices.Index(agents, s.holder)+1
	to := agents[i%len(agents)]
	s.talk()
	s.pass(30*time.Second, time.Duration(2+s.rand.IntN(16))*time.Minute)
	switch s.turn % 55 {
	case 13: // the process of the holder ends
		s.grant(turn.Takeover, to, from, "owner_gone").Reason = "its process has ended in the middle of a turn; the parser is half edited"
		s.pass(20*time.Second, time.Minute)
		s.add(turn.Kicked, to, from, nil).Reason = "gone"
		s.pass(20*time.Minute, 30*time.Minute)
		s.join(from)
	case 22:
		s.rest(to, 78*time.Minute)
	case 33: // a person takes the stick
		s.join(person)
		s.say(person, "", "this looks like a loop: I take the stick", talk.HintInterrupt)
		s.pass(10*time.Second, 20*time.Second)
		s.grant(turn.Takeover, person, from, "operator_override").Reason = "the same test failed 14 times in a row"
	case 34:
		s.release(turn.Released, to)
		s.grant(turn.Claim, to, from, "sequence")
		s.pass(time.Minute, 2*time.Minute)
		s.add(turn.MemberLeft, person, "", payload{"reason": "left"})
	case 44: // an agent does not come
		s.release(turn.Passed, to)
		s.at = s.at.Add(21 * time.Minute)
		s.grant(turn.Takeover, agents[(i+1)%len(agents)], to, "claim_timeout").Reason = "not claimed for 20 minutes"
	case 50:
		s.rest(to, 14*time.Hour+12*time.Minute)
	default:
		s.release(turn.Released, to)
		s.pass(3*time.Millisecond, 3*time.Second)
		s.grant(turn.Claim, to, from, "sequence")
	}
}

// rest ends the turn, and nothing happens for a while.
func (s *story) rest(to string, d time.Duration) {
	from := s.holder
	s.release(turn.Released, "")
	s.at = s.at.Add(d)
	clear(s.freed)
	s.grant(turn.Claim, to, from, "sequence")
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

var lines = []struct{ from, to, body string }{
	{codex, alice, "which branch are you on?"}, {alice, codex, "payments/amounts, rebased on main an hour ago"}, {gemini, "", "I am in docs/ only, no code"},
	{alice, "", "CI is red because of me, I am on it"}, {open, alice, "is money.go:31 meant to be exported?"}, {alice, open, "no, make it lower-case when you have the stick"},
	{second, codex, "the golden files are mine, please leave them"}, {codex, second, "understood"}, {codex, "", "staging is slow today: 4 s a query"},
	{alice, codex, `use </script><img src=x onerror=alert(1)> in the fixture`}, {open, "", "日本語 and emoji 👩‍👩‍👧 parse fine in amounts"},
}

// talk tells what is said during a turn.
func (s *story) talk() {
	for s.rand.IntN(5) < 2 {
		s.pass(5*time.Second, time.Minute)
		x := lines[s.said%len(lines)]
		s.said++
		s.say(x.from, x.to, x.body, talk.HintNormal)
	}
	if s.turn%7 == 3 {
		id := fmt.Sprintf("note-%d", s.turn)
		severity, body := talk.SeverityInfo, "the fixture of TestParse is shared with TestPrint: change both"
		if s.turn%3 == 0 {
			severity, body = talk.SeverityPage, "CI has no jq: the coverage step fails until somebody adds it"
		}
		s.add(turn.NoteAdded, s.holder, "", payload{"note_id": id, "severity": severity, "body": body})
		if s.turn%2 == 0 {
			s.pass(time.Second, time.Minute)
			s.add(turn.NoteResolved, s.holder, "", payload{"note_id": id})
		}
	}
}

func (s *story) say(from, to, body, hint string) {
	s.add(turn.MessageSent, from, to, payload{"body": body, "delivery_hint": hint})
}

// Questions returns the events of the room's topic.
func Questions() iter.Seq[*event.Event] {
	s := &story{}
	at := func(minutes int) { s.at = Begin.Add(time.Duration(minutes) * time.Minute) }
	at(31)
	s.add(topic.EventAsked, codex, alice, payload{"question_id": "q1", "question_text": "Is rounding to be banker's everywhere, or in the ledger only?"})
	at(40)
	s.add(topic.EventAnswer, alice, codex, payload{"question_id": "q1", "answer_markdown": "Everywhere. See `ledger/money.go`."})
	at(41)
	s.add(topic.EventMarked, codex, "", payload{"question_id": "q1"})
	at(230)
	s.add(topic.EventAsked, gemini, "human", payload{"question_id": "q2", "question_text": "May I drop the table amounts_old on staging?"})
	return slices.Values(s.events)
}

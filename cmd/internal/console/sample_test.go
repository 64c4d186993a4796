package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

const (
	me   = "human:alex"
	home = "/home/alex"
)

// now is the moment of the samples.
var now = time.Date(2026, 11, 20, 3, 12, 7, 0, time.UTC)

func ago(d time.Duration) time.Time       { return now.Add(-d) }
func stamp(d time.Duration) event.Time    { return event.NewTime(ago(d)) }
func stampAt(d time.Duration) *event.Time { t := event.NewTime(now.Add(d)); return &t }
func minutes(n float64) time.Duration     { return time.Duration(n * float64(time.Minute)) }
func aMember(id string, seen time.Duration) look.Member {
	return look.Member{MemberView: turn.MemberView{
		AgentID: id, DisplayName: id, JoinedAt: stamp(9 * time.Hour), LastSeenAt: stamp(seen), Status: "active", Process: turn.Alive,
	}}
}

func waiting(x look.Member, since time.Duration) look.Member {
	x.Waiting, x.WaitsSince = true, ago(since)
	return x
}

// heldRoom is a room whose stick an agent has had for a while.
func heldRoom(path, owner string, turnID int64, since, left time.Duration, others ...look.Member) look.Room {
	r := look.Room{
		Name:  "room-" + fmt.Sprintf("%x", path),
		View:  turn.RoomView{RoomID: "room", CanonicalPath: path, Position: turn.Position{State: turn.StateOwned, TurnID: turnID, Owner: owner, LeaseExpiresAt: stampAt(left)}},
		Since: ago(since), Full: 45 * time.Minute,
		Renewal: member.Renewal{At: now.Add(left - 45*time.Minute), PID: 20227, Status: turn.Alive},
	}
	r.Members = append([]look.Member{aMember(owner, minutes(1))}, others...)
	return r
}

// sampleRooms is a night with several agents.
func sampleRooms() []look.Room {
	docs := look.Room{Name: "docs", View: turn.RoomView{CanonicalPath: home + "/src/docs-site", Position: turn.Position{State: turn.StateIdle, TurnID: 4}}, Members: []look.Member{aMember("codex:77aa31c9", 20*time.Minute)}}
	infra := heldRoom(home+"/src/infra", "claude:0badcafe", 12, minutes(2.5), minutes(42.4))
	infra.Yours = look.Yours{Unread: talk.Unread{Questions: 1}}
	gone := aMember("codex:eb55267d", 13*time.Minute)
	gone.Process, gone.Status, gone.Why = turn.Gone, "inactive", "its process has ended"
	ledger := heldRoom(home+"/src/ledger", "codex:eb55267d", 7, 41*time.Minute, minutes(4.2), waiting(aMember("claude:63d1f0aa", minutes(5)), minutes(31)))
	ledger.View.State, ledger.Members[0] = turn.StateOwnerGone, gone
	stopped := aMember("claude:9ee39375", 26*time.Minute)
	stopped.Stopped, stopped.PID = true, 20214
	deaf := aMember("opencode:4d1e", minutes(8))
	deaf.Reach = turn.ReachNone
	left := aMember("codex:77aa31c9", 3*time.Hour)
	left.Process, left.Status = turn.Gone, "inactive"
	payments := heldRoom(home+"/src/payments", "gemini:5c0ffee5", 31, minutes(5.27), minutes(44.72),
		waiting(aMember("codex:8a77b001", minutes(4.2)), minutes(4.2)), waiting(aMember("claude:1f2e3d4c", minutes(1)), minutes(1)), stopped, deaf, left)
	payments.Yours = look.Yours{Unread: talk.Unread{Questions: 1, Messages: 1}}
	payments.Members[0].Reach, payments.Members[1].Reach, payments.Members[2].Reach = turn.ReachBusy, turn.ReachWaiting, turn.ReachWaiting
	api := look.Room{Name: "api", View: turn.RoomView{CanonicalPath: home + "/src/payments/services/api", Position: turn.Position{State: turn.StateReserved, TurnID: 2, ReservedFor: "claude:1f2e3d4c", ClaimExpiresAt: stampAt(minutes(18))}},
		Since: ago(2 * time.Minute), Full: 20 * time.Minute, Members: []look.Member{aMember("claude:1f2e3d4c", minutes(3))}}
	asleep := heldRoom("/srv/build", "grok:71c2ab90", 3, 52*time.Minute, minutes(18))
	asleep.Members[0].Stopped, asleep.Members[0].PID = true, 918
	asleep.View.Trouble = []turn.Trouble{{What: turn.HarnessStopped, PID: 918, Agent: "grok:71c2ab90"}}
	bad := look.Room{Name: "old-3f2a", Err: errors.New("line 12 of the journal cannot be read")}
	return []look.Room{docs, infra, ledger, payments, api, asleep, bad}
}

func anEvent(seq int64, before time.Duration, kind, from, to string) event.Event {
	return event.Event{Seq: seq, Type: kind, From: from, To: to, Turn: 30, CreatedAt: stamp(before)}
}

// sampleDetail is one of the rooms in full.
func sampleDetail() *look.Detail {
	d := &look.Detail{Room: sampleRooms()[3]}
	add := func(e event.Event, text string, urgent bool) {
		d.Entries = append(d.Entries, look.Entry{Event: e, Text: text, Urgent: urgent})
	}
	add(anEvent(201, 5*time.Hour, turn.MemberJoined, "claude:1f2e3d4c", ""), "", false)
	take := anEvent(202, minutes(31.9), turn.Takeover, "codex:77aa31c9", "codex:8a77b001")
	take.Reason = "its process has ended"
	add(take, "", false)
	add(anEvent(203, minutes(20), turn.NoteAdded, "gemini:5c0ffee5", ""), "CI has no jq: testdata/run.sh fails there", true)
	add(anEvent(204, minutes(12), turn.MessageSent, "claude:1f2e3d4c", "codex:8a77b001"), "is the fixture yours? 日本語", false)
	hand := anEvent(205, minutes(5.3), turn.Released, "codex:8a77b001", "gemini:5c0ffee5")
	hand.Handoff = json.RawMessage(`{"status":"The parser reads every file of the corpus.\nTestEmpty still fails.","next_action":"review the parser, then fix TestEmpty","artifacts":[{"path":"parse.go","lines":[10,90],"role":"review"}],"do_not":["touch the fixture"]}`)
	add(hand, "", false)
	add(anEvent(206, minutes(5.27), turn.Claim, "", "gemini:5c0ffee5"), "", false)
	add(anEvent(207, minutes(1.1), turn.MessageSent, "codex:8a77b001", ""), "the fixture is mine until TestEmpty passes", false)
	add(anEvent(208, minutes(0.4), turn.MessageSent, "claude:1f2e3d4c", me), "may I drop the old format?", true)
	d.Handoff = &d.Entries[4].Event
	d.Notes = []look.Item{
		{Word: talk.Word{Kind: talk.KindNote, ID: "6a2d727f-1", From: "gemini:5c0ffee5", Text: "CI has no jq: testdata/run.sh fails there", Urgent: true}, At: ago(minutes(20))},
		{Word: talk.Word{Kind: talk.KindNote, ID: "88ab12cd-2", From: "codex:8a77b001", To: me, Text: "release notes want a number"}, At: ago(2 * time.Hour)},
	}
	held := ago(minutes(2.2))
	d.Locks = []*locks.View{{
		Name: "build", Holders: []*locks.TicketView{{AgentID: "codex:8a77b001", HeldAt: &event.Time{Time: held}, Command: []string{"make", "test"}}},
		Waiting: []*locks.TicketView{{AgentID: "claude:1f2e3d4c"}},
	}}
	d.Questions = []look.Item{
		{Word: talk.Word{Kind: talk.KindQuestion, ID: "q16d9aa01", From: "claude:1f2e3d4c", To: "human", Text: "May I drop the old format? Nothing reads it.", Urgent: true}, At: ago(minutes(3))},
		{Word: talk.Word{Kind: talk.KindQuestion, ID: "q77", From: "codex:8a77b001", To: "gemini:5c0ffee5", Text: "is rounding banker's?"}, At: ago(minutes(9))},
	}
	return d
}

func sampleItems() []look.Item {
	return []look.Item{
		{Word: talk.Word{Kind: look.KindTurn, From: "codex:77aa31c9", Text: "look at the landing page"}, Room: "docs", Path: home + "/src/docs-site", At: ago(minutes(2))},
		{Word: talk.Word{Kind: talk.KindQuestion, ID: "q1", From: "claude:0badcafe", Text: "Which region?\nEU or US?"}, Room: "infra", Path: home + "/src/infra", At: ago(minutes(14))},
		{Word: talk.Word{Kind: talk.KindNote, ID: "88ab12cd-2", From: "codex:8a77b001", Text: "release notes want a number"}, Room: "p", Path: home + "/src/payments", At: ago(2 * time.Hour)},
		{Word: talk.Word{Kind: talk.KindMessage, From: "claude:1f2e3d4c", Text: "may I drop the old format?"}, Room: "p", Path: home + "/src/payments", At: ago(minutes(0.4))},
	}
}

// sample is the console in that night.
func sample(w, h int) *model {
	m := &model{me: me, home: home, zone: time.UTC, now: now, drafts: make(map[string]string)}
	m.rooms, m.w, m.h = sampleRooms(), w, h
	m.room = m.rooms[3].Name
	m.settle()
	return m
}

// sampleRoom is the console with a room open.
func sampleRoom(w, h int) *model {
	m := sample(w, h)
	m.page, m.detail = pageRoom, sampleDetail()
	m.settle()
	return m
}

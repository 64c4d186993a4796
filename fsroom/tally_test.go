package fsroom_test

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/mirror"
	"github.com/talking-stick/tt/journal/event"
)

// A tally is the state of the rooms in these tests: who is in, how often each
// has spoken, and how often the turn went on.
type tally struct {
	Room string         `json:"room"`
	Open bool           `json:"open"`
	Seq  int64          `json:"seq"`
	Turn int64          `json:"turn"`
	In   []string       `json:"in,omitempty"`
	Said map[string]int `json:"said,omitempty"`
	Last string         `json:"last,omitempty"`
}

const (
	opened = "opened"
	joined = "joined"
	said   = "said"
	turned = "turned"
	left   = "left"
	closed = "closed"
)

var tallyRules = &fsroom.Rules[*tally]{
	SharedFiles: []string{"seen"},
	Folder:      "rooms",
	Format:      3, // as if it had a past
	Version:     2,
	New:         func(room string) *tally { return &tally{Room: room} },
	Apply:       (*tally).apply,
	Clone: func(s *tally) *tally {
		c := *s
		c.In, c.Said = slices.Clone(s.In), maps.Clone(s.Said)
		return &c
	},
	Live:     func(s *tally) bool { return s.Open },
	Share:    mirror.New[*tally],
	Continue: func(s *tally, last *event.Event) { s.Seq, s.Turn = last.Seq, last.Turn },
}

func (s *tally) apply(e *event.Event) error {
	switch e.Type {
	case opened:
		*s = tally{Room: e.RoomID, Open: true, Turn: e.Turn}
	case joined:
		s.In = append(s.In, e.From)
	case said:
		var text string
		if err := json.Unmarshal(e.Payload, &text); err != nil {
			return err
		}
		s.Last = text
		if s.Said == nil {
			s.Said = map[string]int{}
		}
		s.Said[e.From]++
	case turned, event.Damaged:
		s.Turn = max(s.Turn, e.Turn)
	case left:
		s.In = slices.DeleteFunc(s.In, func(who string) bool { return who == e.From })
	case closed:
		*s = tally{Room: s.Room, Turn: s.Turn}
	case event.JournalDamaged:
		var loss struct {
			State *tally `json:"state"`
		}
		if err := json.Unmarshal(e.Payload, &loss); err != nil {
			return err
		}
		*s = *loss.State
	}
	s.Seq = e.Seq
	return nil
}

type (
	decision = fsroom.Decision[*tally]
	snapshot = fsroom.Snapshot[*tally]
	room     = fsroom.Room[*tally]
)

// join is two events where it opens the room, none for who is in already.
func join(who string) decision {
	return func(s *tally) ([]event.Event, error) {
		e := event.Event{Type: joined, Turn: s.Turn, From: who}
		if !s.Open {
			return []event.Event{{Type: opened, Turn: s.Turn}, e}, nil
		}
		if slices.Contains(s.In, who) {
			return nil, nil
		}
		return []event.Event{e}, nil
	}
}

// say is refused to who is not in.
func say(who, text string) decision {
	return by(who, func(s *tally) []event.Event {
		b, _ := json.Marshal(text)
		return []event.Event{{Type: said, Turn: s.Turn, From: who, Payload: b}}
	})
}

func turnOn(who string) decision {
	return by(who, func(s *tally) []event.Event {
		return []event.Event{{Type: turned, Turn: s.Turn + 1, From: who}}
	})
}

// leave is two events where it ends the room.
func leave(who string) decision {
	return by(who, func(s *tally) []event.Event {
		events := []event.Event{{Type: left, Turn: s.Turn, From: who}}
		if len(s.In) == 1 {
			events = append(events, event.Event{Type: closed, Turn: s.Turn})
		}
		return events
	})
}

func by(who string, events func(*tally) []event.Event) decision {
	return func(s *tally) ([]event.Event, error) {
		if !slices.Contains(s.In, who) {
			return nil, code.New(code.NotJoined, "%s is not in", who)
		}
		return events(s), nil
	}
}

func nothing(*tally) ([]event.Event, error) { return nil, nil }

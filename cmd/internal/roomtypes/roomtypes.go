// Package roomtypes has the rules of the two types of rooms: those of the talking stick,
// and the topics of the agent bus. All programs that open a data directory use them.
package roomtypes

import (
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// rulesVersion is the version of the rules of both types. It goes up when the same events make another state.
const rulesVersion = 1

// The files of an agent of a room that its host makes known to the others, beside those of
// package hearing. What they have is a matter of package member.
const (
	SeenFile      = "seen"
	WaitingFile   = "waiting"
	ProcessesFile = "processes.json"
	LeaseFile     = "hold.json"
)

// Stick returns the rules of the talking stick.
func Stick() *fsroom.Rules[*turn.State] { return &stick }

// Topics returns the rules of a topic. A topic never ends: a closed one can still be
// read, and its questions can be answered.
func Topics() *fsroom.Rules[*topic.State] { return &topics }

var stick = fsroom.Rules[*turn.State]{
	Folder:   "rooms",
	Format:   turn.Format,
	Version:  rulesVersion,
	New:      turn.New,
	Apply:    (*turn.State).Apply,
	Clone:    (*turn.State).Clone,
	Live:     (*turn.State).Live,
	Continue: (*turn.State).Continue,
	Notify: func(before, after *turn.State, events []event.Event) []string {
		return append(turn.WhoToNotify(before, after), after.WhoHasNews(events)...)
	},
	Listeners: turn.Listeners,
	Reopen:    turn.Reopen,

	SharedFiles: []string{SeenFile, WaitingFile, ProcessesFile, LeaseFile, hearing.CursorFile, hearing.File},
}

var topics = fsroom.Rules[*topic.State]{
	Folder:   "topics",
	Format:   topic.Format,
	Version:  rulesVersion,
	New:      topic.New,
	Apply:    (*topic.State).Apply,
	Clone:    (*topic.State).Clone,
	Live:     func(s *topic.State) bool { return s.Seq > 0 },
	Continue: func(s *topic.State, last *event.Event) { s.Seq = last.Seq },
	Reopen:   topic.Reopen,

	SharedFiles: []string{"joined"},
}

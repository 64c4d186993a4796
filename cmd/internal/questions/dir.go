// Package questions finds, makes and reads the topics of one data directory, and asks and answers on them: for agent-bus, and for the room
// of tt that a topic belongs to. What may be asked and answered on them is decided in fsroom/topic.
package questions

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/journal/event"
)

type (
	Topic    = fsroom.Room[*topic.State]
	Snapshot = fsroom.Snapshot[*topic.State]
)

// A Dir is the topics of one data directory, whose fields are set before its methods are called. Making one touches no file.
type Dir struct {
	Path    string
	Options fsroom.Options
	Broken  error // why it cannot be used; nil: it can

	mu     sync.Mutex
	opened *fsroom.Store
}

// Store opens the data directory. It checks the directory's format each time, which may change while a server lives for days, but keeps
// the first store, which has the watcher that all waits share.
func (d *Dir) Store() (*fsroom.Store, error) {
	if d.Broken != nil {
		return nil, d.Broken
	}
	now, err := fsroom.Open(d.Path, d.Options)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened == nil {
		d.opened = now
	}
	return d.opened, nil
}

// Topic returns the topic with the id, which must exist.
func (d *Dir) Topic(id string) (*Topic, error) {
	store, err := d.Store()
	if err != nil {
		return nil, err
	}
	if IsID(id) {
		if r := fsroom.At(store, roomtypes.Topics(), id); r.Exists() {
			return r, nil
		}
	}
	return nil, topic.NotFound("topic_id", id)
}

// Create makes a topic, or returns the one that the request wants reused. Processes do so one after the other. Where other hosts make
// topics too, those that are to be reused have ids that follow from their names, so that the engine lets one host make a topic, and the
// others find it. Doubtful are the unreadable topics that may have the name; if one has it and a topic of the name is to be reused, its
// error is returned. A room of tt has one topic: where a room has the name, that is it.
func (d *Dir) Create(ctx context.Context, r topic.CreateRequest) (s *topic.State, doubtful []Unreadable, err error) {
	store, err := d.Store()
	if err != nil {
		return nil, nil, err
	}
	switch s, err := d.OfRoom(ctx, r.Name); {
	case err != nil:
		return nil, nil, err
	case s != nil && r.Mode == topic.ModeNew:
		return nil, nil, code.New(topic.InvalidArgument, "%s is a room of tt, which has one topic: %s", r.Name, s.TopicID)
	case s != nil:
		return s, nil, nil
	}
	unlock, err := store.LockFolder(ctx, roomtypes.Topics().Folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = unlock() }()
	for {
		all, err := d.Index()
		if err != nil {
			return nil, nil, err
		}
		doubtful = all.Doubtful(r.Name)
		id := newTopicID()
		if store.Options().Engine != nil && r.Name != "" && r.Mode == topic.ModeReuse {
			id = all.freeID(r.Name)
		}
		reused, events := topic.Create(all.States, r, id)
		if reused != nil {
			return reused, doubtful, nil
		}
		if u := Named(doubtful, r.Name); u != nil && r.Mode == topic.ModeReuse {
			return nil, doubtful, u.Err
		}
		snap, made, err := fsroom.At(store, roomtypes.Topics(), id).Update(ctx, unlessMade(events))
		if err != nil {
			return nil, nil, err
		}
		if len(made) > 0 {
			return snap.State, doubtful, nil
		}
	}
}

// unlessMade makes a topic by the events, if it is not there.
func unlessMade(events []event.Event) fsroom.Decision[*topic.State] {
	return func(s *topic.State) ([]event.Event, error) {
		if s.Exists() {
			return nil, nil
		}
		return events, nil
	}
}

// freeID returns the first id for topics of the name that no topic has.
func (x *Index) freeID(name string) string {
	for n := 0; ; n++ {
		id := hashedID(fmt.Sprintf("name %d %s", n, name))
		if !slices.ContainsFunc(x.States, func(s *topic.State) bool { return s.TopicID == id }) &&
			!slices.ContainsFunc(x.Unreadable, func(u Unreadable) bool { return u.ID == id }) {
			return id
		}
	}
}

// JoinedMark is the mark that every session holds in an agent's directory under
// whose name it has joined. The kernel drops it when the process ends.
const JoinedMark = "joined"

// Join marks the agent as one that has joined the topic, until release is called or the process ends.
func Join(r *Topic, agent string) (release func(), err error) {
	a := r.Agent(agent)
	if release, err = a.Hold(JoinedMark); err == nil {
		_ = a.Sign(JoinedMark, agent) // unsigned it counts without a name
	}
	return release, err
}

// Seen notes that an agent that has joined the topic has made a call.
func Seen(r *Topic, agent string) { r.Agent(agent).Touch(JoinedMark, time.Now()) }

// Listeners returns the agents with a live session that have joined the topic, without
// the agent given, the last seen first. An error means that they cannot be counted.
func Listeners(r *Topic, without string) ([]fsroom.Holder, error) {
	all, err := r.Holders(JoinedMark, without)
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(b.Marked.Compare(a.Marked), strings.Compare(a.ID, b.ID)) < 0
	})
	return all, err
}

// idLength is the length of every id: a letter for its kind and 44 random bits.
const idLength = 12

// Ids start with a letter, because agents turn "12345678" and "1e5" into numbers.
func newTopicID() string    { return newID('t') }
func newQuestionID() string { return newID('q') }
func newAnswerID() string   { return newID('a') }

func newID(kind byte) string {
	return fmt.Sprintf("%c%011x", kind, rand.Uint64()>>(64-44))
}

// IsID reports whether the text has the form of a topic's id. A text that has not must not become part of a path.
func IsID(text string) bool {
	return len(text) == idLength && text[0] == 't' && strings.Trim(text[1:], "0123456789abcdef") == ""
}

// TopicOf returns the topic that has the question, nil if none has it.
func (d *Dir) TopicOf(ctx context.Context, questionID string) (*Topic, error) {
	all, err := d.Index()
	if err != nil {
		return nil, err
	}
	for _, s := range all.States {
		r, err := d.Topic(s.TopicID)
		if err != nil {
			return nil, err
		}
		if s, err = WithQuestion(ctx, r, s, questionID); err != nil {
			return nil, err
		}
		if s.Question(questionID) != nil {
			return r, nil
		}
	}
	return nil, nil
}

// WithQuestion returns a state that has the question, if the topic ever had it: s itself, or the history.
func WithQuestion(ctx context.Context, r *Topic, s *topic.State, questionID string) (*topic.State, error) {
	if !s.Forgets() || s.Question(questionID) != nil {
		return s, nil
	}
	return History(ctx, r)
}

// History returns the topic with every question that it ever had, folded from the whole journal.
func History(ctx context.Context, r *Topic) (*topic.State, error) {
	s := topic.NewHistory(r.Name())
	_, err := r.Events(ctx, 0, s.Apply)
	return s, err
}

// Whole is [History] with the lookup for all texts, read in one pass.
func Whole(ctx context.Context, r *Topic) (*topic.State, topic.Lookup, error) {
	s, texts := topic.NewHistory(r.Name()), map[int64]*event.Event{}
	_, err := r.Events(ctx, 0, func(e *event.Event) error {
		if e.Type == topic.EventAsked || e.Type == topic.EventAnswer {
			kept := e.Clone()
			texts[e.Seq] = &kept
		}
		return s.Apply(e)
	})
	return s, func(seq int64) (*event.Event, error) {
		return cmp.Or(texts[seq], &event.Event{Type: event.Damaged}), nil
	}, err
}

// Await waits until over reports true for the topic, or the context ends.
func Await(ctx context.Context, r *Topic, over func(*topic.State) bool) error {
	return r.Await(ctx, func(s *Snapshot) (bool, fsroom.Sleep, error) { return over(s.State), fsroom.Sleep{}, nil })
}

// Texts returns the lookup for the texts of the topic's questions and answers.
func Texts(ctx context.Context, r *Topic) topic.Lookup {
	return func(seq int64) (*event.Event, error) { return r.Event(ctx, seq) }
}

// An Index is all topics of a data directory, in no order. Topics that cannot be
// read are listed apart, so that one damaged topic does not make the others unusable.
type Index struct {
	States     []*topic.State
	Unreadable []Unreadable
}

// An Unreadable topic is damaged, or was written by a newer version.
type Unreadable struct {
	ID   string
	Name string // "" if it is not known
	Err  error
}

// Index reads the state of every topic. With an engine, this host's mirrors are brought up to date first.
func (d *Dir) Index() (*Index, error) {
	store, err := d.Store()
	if err != nil {
		return nil, err
	}
	return indexOf(store)
}

func indexOf(store *fsroom.Store) (*Index, error) {
	if _, err := fsroom.Rooms(store, roomtypes.Topics()); err != nil {
		return nil, err
	}
	ids, err := fsroom.Folders(store, roomtypes.Topics())
	if err != nil {
		return nil, err
	}
	store = store.Offline()
	var all Index
	for _, id := range ids {
		r := fsroom.At(store, roomtypes.Topics(), id)
		snap, err := &Snapshot{State: topic.New(id)}, error(nil)
		if r.HasJournal() {
			snap, err = r.View()
		}
		if err == nil && !snap.State.Exists() {
			err = lost(store, r, snap)
		}
		switch c := code.Of(err); {
		case c == code.CorruptRoom, c == code.UnsupportedFormat:
			all.Unreadable = append(all.Unreadable, Unreadable{id, writtenName(r), err})
		case err != nil:
			return nil, err
		case snap.State.Exists():
			all.States = append(all.States, snap.State)
		}
	}
	return &all, nil
}

// Doubtful returns the unreadable topics that have the name or may have it.
func (x *Index) Doubtful(name string) []Unreadable {
	return slices.DeleteFunc(slices.Clone(x.Unreadable), func(u Unreadable) bool { return u.Name != "" && u.Name != name })
}

// Named returns the first topic of the list that has the name, nil if there is none.
func Named(list []Unreadable, name string) *Unreadable {
	for i := range list {
		if name != "" && list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// lost returns the error of a topic whose first event is gone, nil if there was none.
func lost(store *fsroom.Store, r *Topic, snap *Snapshot) error {
	if cached, _ := r.Cached(); snap.Position.Offset == 0 && r.Committed(cached) == 0 {
		return nil
	}
	return store.Explain(&journal.CorruptError{Path: r.JournalPath(), Line: 1, Problem: "the event that made the topic is gone"}, "")
}

// writtenName returns the name that the topic's journal or else its state.json has, "" if neither can be read.
func writtenName(r *Topic) (name string) {
	_, _ = r.Events(context.Background(), 0, func(e *event.Event) error {
		if e.Type == topic.EventCreated {
			_, name = topic.Words(e)
		}
		return fs.SkipAll // the first event has it
	})
	if cached, _ := r.Cached(); name == "" && cached != nil {
		return cached.State.Name
	}
	return name
}

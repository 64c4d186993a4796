package main

import (
	"context"
	"strings"
	"sync"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/journal/event"
)

// rules are those of a topic.
var rules = roomtypes.Topics()

type (
	room     = fsroom.Room[*topic.State]
	snapshot = fsroom.Snapshot[*topic.State]
)

// A bus is the topics of one data directory. Making one touches no file.
type bus struct {
	dir     string
	limits  topic.Limits
	options fsroom.Options

	mu     sync.Mutex
	opened *fsroom.Store
}

// openBus returns the bus that the environment names.
func openBus(env *cli.Env) (*bus, error) {
	settings, err := tools.SettingsFrom(env.Lookup)
	if err != nil {
		return nil, err
	}
	dir, err := dataDir(env)
	if err != nil {
		return nil, err
	}
	return newBus(dir, settings), nil
}

func newBus(dir string, s tools.Settings) *bus {
	return &bus{dir: dir, limits: s.Limits, options: fsroom.Options{BlindPoll: s.PollInitial, BlindPollMax: s.PollMax}}
}

// dataDir is the one of tt unless there is one of our own.
func dataDir(env *cli.Env) (string, error) {
	if own := env.Lookup(envDataDir); own != "" {
		dir, err := workspace.GivenDataDir(envDataDir, own)
		if err != nil {
			return "", tools.Translate(err)
		}
		return dir, nil
	}
	dir, err := workspace.DataDir(env.Lookup, env.Home)
	if err != nil {
		e := tools.Translate(err)
		e.Message = strings.Replace(e.Message, "keep rooms", "keep topics", 1)
		return "", e.WithHint("%s, or set %s", e.Hint, envDataDir)
	}
	return dir, nil
}

// store opens the data directory. It looks at the directory's format each time,
// which may have changed in the days that a server lives, but keeps the first
// store: that has the watcher which all waits share.
func (b *bus) store() (*fsroom.Store, error) {
	now, err := fsroom.Open(b.dir, b.options)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened == nil {
		b.opened = now
	}
	return b.opened, nil
}

// Close ends the watching for changes.
func (b *bus) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened == nil {
		return nil
	}
	return b.opened.Close()
}

// topic returns the room of a topic that exists.
func (b *bus) topic(id string) (*room, error) {
	store, err := b.store()
	if err != nil {
		return nil, err
	}
	if isID(id) {
		if r := fsroom.At(store, rules, id); r.Exists() {
			return r, nil
		}
	}
	return nil, topic.NotFound("topic_id", id)
}

// An index is the topics of the bus that can be read, in no order, and the
// others: one damaged topic must not be in the way of all.
type index struct {
	states     []*topic.State
	unreadable []unreadable
}

func (b *bus) index() (*index, error) {
	store, err := b.store()
	if err != nil {
		return nil, err
	}
	names, err := fsroom.Rooms(store, rules)
	if err != nil {
		return nil, err
	}
	var all index
	for _, id := range names {
		snap, err := fsroom.At(store, rules, id).View()
		switch c := code.Of(err); {
		case c == code.CorruptRoom, c == code.UnsupportedFormat:
			all.unreadable = append(all.unreadable, unreadable{id, b.writtenName(id), err})
		case err != nil:
			return nil, err
		case snap.State.Exists():
			all.states = append(all.states, snap.State)
		}
	}
	return &all, nil
}

// infos returns the topics that can be read, as lists show them.
func (x *index) infos() []topic.Info {
	var infos []topic.Info
	for _, s := range x.states {
		infos = append(infos, s.Info())
	}
	return infos
}

// topicOf returns the topic that has the question, "" if none has.
func (b *bus) topicOf(ctx context.Context, questionID string) (string, error) {
	all, err := b.index()
	if err != nil {
		return "", err
	}
	for _, s := range all.states {
		if s.Forgets() {
			r, err := b.topic(s.TopicID)
			if err != nil {
				return "", err
			}
			if s, err = knowing(ctx, r, s, questionID); err != nil {
				return "", err
			}
		}
		if s.Question(questionID) != nil {
			return s.TopicID, nil
		}
	}
	return "", nil
}

// knowing returns a state that has the question, if the topic ever had it: s
// itself, or the whole history.
func knowing(ctx context.Context, r *room, s *topic.State, questionID string) (*topic.State, error) {
	if !s.Forgets() || s.Question(questionID) != nil {
		return s, nil
	}
	return history(ctx, r)
}

// history returns the topic with every question that it ever had, read from the
// journal from end to end.
func history(ctx context.Context, r *room) (*topic.State, error) {
	s := topic.NewHistory(r.Name())
	_, err := r.Events(ctx, 0, s.Apply)
	return s, err
}

// resolve finds a topic by name. The warnings are about topics that cannot be
// read and have that name or one that is not known. Where no other topic has the
// name, one that cannot be read and has it is the error.
func (b *bus) resolve(r topic.ResolveRequest) (topic.Info, []tools.Warning, error) {
	all, err := b.index()
	if err != nil {
		return topic.Info{}, nil, err
	}
	doubtful := all.doubtful(r.Name)
	info, err := topic.Find(all.infos(), r)
	if err == nil {
		return info, warningsOf(doubtful), nil
	}
	return topic.Info{}, nil, hidden(doubtful, r.Name, err)
}

// create makes a topic, or finds the one to be used again. Only one process does
// so at a time.
func (b *bus) create(ctx context.Context, r topic.CreateRequest) (*topic.Info, []tools.Warning, error) {
	store, err := b.store()
	if err != nil {
		return nil, nil, err
	}
	unlock, err := store.LockFolder(ctx, rules.Folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = unlock() }()
	all, err := b.index()
	if err != nil {
		return nil, nil, err
	}
	doubtful := all.doubtful(r.Name)
	id := newTopicID()
	reused, events := topic.Create(all.infos(), r, id)
	if reused != nil {
		return reused, warningsOf(doubtful), nil
	}
	if r.Mode == topic.ModeReuse {
		if err := hidden(doubtful, r.Name, nil); err != nil {
			return nil, nil, err
		}
	}
	snap, _, err := fsroom.At(store, rules, id).Update(ctx, func(*topic.State) ([]event.Event, error) { return events, nil })
	if err != nil {
		return nil, nil, err
	}
	info := snap.State.Info()
	return &info, warningsOf(doubtful), nil
}

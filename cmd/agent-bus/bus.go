package main

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/talking-stick/tt/cmd/internal/front"
	"github.com/talking-stick/tt/cmd/internal/kinds"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

// rules are those of a topic.
var rules = kinds.Topics()

type (
	room     = fsroom.Room[topic.State]
	snapshot = fsroom.Snapshot[topic.State]
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
func openBus(env *front.Env) (*bus, error) {
	limits, err := topic.LimitsFrom(env.Lookup)
	if err != nil {
		return nil, err
	}
	dir, err := dataDir(env)
	if err != nil {
		return nil, busError(err)
	}
	return newBus(dir, limits), nil
}

func newBus(dir string, limits topic.Limits) *bus {
	return &bus{dir: dir, limits: limits, options: fsroom.Options{BlindPoll: limits.PollInitial, BlindPollMax: limits.PollMax}}
}

// dataDir is the one of tt unless there is one of our own.
func dataDir(env *front.Env) (string, error) {
	own := env.Lookup(envDataDir)
	if own == "" {
		return fsroom.DataDir(env.Lookup, env.Home, env.Dir)
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(env.Dir, own)
	}
	return filepath.Clean(own), nil
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

// states returns every topic that can be read, in no order, and a warning for
// each that is damaged: one of them must not be in the way of all others.
func (b *bus) states() (states []*topic.State, damaged []topic.Warning, err error) {
	store, err := b.store()
	if err != nil {
		return nil, nil, err
	}
	names, err := fsroom.Rooms(store, rules)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		snap, err := fsroom.At(store, rules, name).View()
		switch {
		case code.Of(err) == code.CorruptRoom:
			damaged = append(damaged, damagedTopic(name, err))
		case err != nil:
			return nil, nil, err
		case snap.State.Exists():
			states = append(states, snap.State)
		}
	}
	return states, damaged, nil
}

// topics returns every topic that can be read, as lists show it, and a warning
// for each of the others.
func (b *bus) topics() (infos []topic.Info, damaged []topic.Warning, err error) {
	states, damaged, err := b.states()
	for _, s := range states {
		infos = append(infos, s.Info())
	}
	return infos, damaged, err
}

// topicOf returns the topic that has the question, "" if none has.
func (b *bus) topicOf(questionID string) (string, error) {
	states, _, err := b.states()
	for _, s := range states {
		if s.Question(questionID) != nil {
			return s.TopicID, nil
		}
	}
	return "", err
}

// create makes a topic, or finds the one to be used again. Only one process at a
// time is at it.
func (b *bus) create(ctx context.Context, r topic.CreateRequest) (*topic.Info, []topic.Warning, error) {
	store, err := b.store()
	if err != nil {
		return nil, nil, err
	}
	unlock, err := store.LockFolder(ctx, rules.Folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = unlock() }()
	infos, damaged, err := b.topics()
	if err != nil {
		return nil, nil, err
	}
	id := newTopicID()
	reused, events := topic.Create(infos, r, id)
	if reused != nil {
		return reused, damaged, nil
	}
	snap, _, err := fsroom.At(store, rules, id).Update(ctx, func(*topic.State) ([]journal.Event, error) { return events, nil })
	if err != nil {
		return nil, nil, err
	}
	info := snap.State.Info()
	return &info, damaged, nil
}

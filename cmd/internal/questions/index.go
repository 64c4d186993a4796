package questions

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/journal"
)

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

// Index reads the state of every topic. With an engine, this host's mirrors are brought up
// to date first.
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
	var list []Unreadable
	for _, u := range x.Unreadable {
		if u.Name == "" || u.Name == name {
			list = append(list, u)
		}
	}
	return list
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

// writtenName returns the name that the topic's journal or else its state.json has, "" if
// neither can be read.
func writtenName(r *Topic) string {
	if name := nameInJournal(r.JournalPath()); name != "" {
		return name
	}
	if cached, _ := r.Cached(); cached != nil {
		return cached.State.Name
	}
	return ""
}

// nameInJournal returns the name in the first line of a topic's journal, "" if that cannot
// be read.
func nameInJournal(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const longest = 4 << 20
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longest)
	var first struct {
		Type    string `json:"event_type"`
		Payload struct{ Name string }
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || first.Type != topic.EventCreated {
		return ""
	}
	return first.Payload.Name
}

package mirror

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

const (
	// refreshedAtOnce is how many mirrors are refreshed at the same time.
	refreshedAtOnce = 16
	// refreshPatience is how long one of many mirrors is waited for that another process
	// has locked. It is left as it is then.
	refreshPatience = 500 * time.Millisecond
	// readOneByOne is how many rooms without a mirror are read one by one. More are read
	// together with all others.
	readOneByOne = 32
	// mostAbsorbed is how many bytes are read before they are written to the mirrors.
	mostAbsorbed = 8 << 20
)

var errOffline = errors.New("this command does not ask it")

// RefreshAll is [fsroom.Refresh]. A mirror is up to date if it has as many changes as the room
// has entries. If some of these are notes, the room is read.
func (r *mirror[S]) RefreshAll(ctx context.Context) (map[string]error, error) {
	if r.engine == nil {
		return nil, nil
	}
	prefix := r.Rules().Folder + "."
	all, err := r.engine.Rooms(ctx, prefix)
	if err != nil {
		return nil, r.unlessBehind(r.explainEngine(err))
	}
	stale := make(map[string]*mirror[S])
	entries, missing := 0, 0 // of all rooms, and of those that have no mirror yet
	isNew := make(map[string]*mirror[S])
	for name, n := range all {
		entries += n
		name = strings.TrimPrefix(name, prefix)
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			continue // no name of ours
		}
		room := &mirror[S]{Files: fsroom.FilesOf(r.Store(), r.Rules(), name), engine: r.engine}
		m := room.readMarker()
		if m.Changes == int64(n) {
			continue
		}
		stale[name] = room
		if m.Revision == 0 {
			isNew[name] = room
			missing += n
		}
	}
	if len(isNew) > readOneByOne && entries/4 < missing {
		if err := r.readAll(ctx, isNew); err != nil {
			return nil, r.unlessBehind(r.explainEngine(err))
		}
		for name, room := range isNew {
			if room.readMarker().Changes == int64(all[prefix+name]) {
				delete(stale, name)
			}
		}
	}
	failed, err := r.atOnce(ctx, stale, func(ctx context.Context, room *mirror[S]) error {
		_, err := room.refresh(ctx, nil, refreshPatience)
		return err
	})
	if err != nil {
		return nil, r.unlessBehind(err)
	}
	return failed, nil
}

// atOnce calls do for all rooms, several at a time, and returns what failed by room. An error
// means that the engine cannot be reached, or that ctx is done.
func (r *mirror[S]) atOnce(ctx context.Context, rooms map[string]*mirror[S], do func(context.Context, *mirror[S]) error,
) (map[string]error, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	failed := make(map[string]error)
	var running sync.WaitGroup
	free := make(chan struct{}, refreshedAtOnce)
	for name, room := range rooms {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			err := do(ctx, room)
			if fsroom.IsUnreachable(err) {
				cancel(err) // so are the others
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[name] = r.Store().Explain(err, room.Dir())
			}
		})
	}
	running.Wait()
	return failed, context.Cause(ctx)
}

// readAll makes the mirrors of rooms that have none from one reading of all rooms, part by
// part. What could not be made is missing.
func (r *mirror[S]) readAll(ctx context.Context, rooms map[string]*mirror[S]) error {
	rooms = maps.Clone(rooms)
	parts, size := make(map[string]*tail), 0
	absorb := func() error {
		some := make(map[string]*mirror[S])
		for name := range parts {
			some[name] = rooms[name]
		}
		failed, err := r.atOnce(ctx, some, func(ctx context.Context, room *mirror[S]) error {
			return room.absorbLocked(ctx, parts[room.Name()], refreshPatience)
		})
		for name := range failed {
			delete(rooms, name) // what follows does not fit
		}
		parts, size = make(map[string]*tail), 0
		return err
	}
	prefix := r.Rules().Folder + "."
	err := r.engine.ReadAll(ctx, prefix, func(name string, e engine.Entry) error {
		name = strings.TrimPrefix(name, prefix)
		room := rooms[name]
		if room == nil {
			return nil
		}
		t := parts[name]
		if t == nil {
			t = newTail(room.readMarker())
			parts[name] = t
		}
		_ = t.add(e)
		if size += len(e.Lines) + len(e.Note); size < mostAbsorbed {
			return nil
		}
		return absorb()
	})
	if err == nil {
		err = absorb()
	}
	return err
}

// recordsFreshForAll is how long records that were fetched for all rooms are used, once for
// each room.
const recordsFreshForAll = 5 * time.Second

// allRecords are those of all rooms of a folder, by which they are kept.
type allRecords struct {
	at    time.Time
	rooms map[string]map[string]engine.Record
}

type allRecordsKey string

// FetchAgents is [fsroom.FetchAgents].
func (r *mirror[S]) FetchAgents(ctx context.Context) {
	if r.engine == nil {
		return
	}
	at := r.Store().Options().Now()
	if rooms, err := r.engine.AllRecords(ctx, r.Rules().Folder+"."); err == nil {
		r.Store().Memory().Store(allRecordsKey(r.Rules().Folder), &allRecords{at, rooms})
	}
}

// recordsOf returns the records of agents of the room, of all if none is named. The first time
// they are those that were fetched for all rooms a moment ago.
func (r *mirror[S]) recordsOf(ctx context.Context, agents ...string) (map[string]engine.Record, error) {
	kept, _ := r.Store().Memory().Load(allRecordsKey(r.Rules().Folder))
	if all, ok := kept.(*allRecords); ok && r.records.fetched.IsZero() && r.Store().Options().Now().Sub(all.at) < recordsFreshForAll {
		return all.rooms[r.engineName()], nil
	}
	return r.engine.Records(ctx, r.engineName(), agents...)
}

func (r *mirror[S]) unlessBehind(err error) error {
	if fsroom.IsUnreachable(err) && r.Store().MayBeBehind(err) {
		return nil
	}
	return err
}

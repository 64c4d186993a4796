package mirror

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/lockfile"
)

const (
	// recordsFresh is how long records that were fetched are used.
	recordsFresh = time.Second
	// recordsDecide is how long while the mirror is locked: a decision that is made again asks nothing again.
	recordsDecide = 10 * time.Second
	// recordsKept is how long the engine keeps a record that is not replaced.
	recordsKept = 30 * 24 * time.Hour
	// recordsPatience bounds a look at the records. Without an answer, nothing is known of
	// agents on other hosts.
	recordsPatience = 2 * time.Second
	// noAnswerFresh is for how long a process that does not answer, such as a stopped one,
	// is not asked again.
	noAnswerFresh = time.Second
)

// records are those of one room, as they were fetched last.
type records struct {
	mu      sync.Mutex
	fetched time.Time
	byAgent map[string]*fsroom.Told
	held    map[string]map[string]answer // the last answers, by mark and agent
}

// silent reports whether nothing is asked of the engine or told to it about agents: there is
// none, or it did not answer the last time.
func (r *mirror[S]) silent() bool { return r.engine == nil || r.away.Load() != nil }

// Told returns the record of an agent if another host has published it. All are fetched together.
func (r *mirror[S]) Told(key string) *fsroom.Told {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	r.fetchRecords()
	return r.records.byAgent[key]
}

// isFresh reports whether what was fetched at the time is used.
func (r *mirror[S]) isFresh(at time.Time) bool {
	fresh := max(recordsFresh, r.brief())
	if r.locked.Load() {
		fresh = recordsDecide
	}
	return time.Since(at) < fresh
}

// fetchRecords fetches the records of all agents. If the engine does not answer, those that
// were fetched before stay. r.records is locked.
func (r *mirror[S]) fetchRecords() {
	if r.silent() || r.isFresh(r.records.fetched) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience+engine.Slack)
	defer cancel()
	all, err := r.engine.Records(ctx, r.engineName())
	if r.records.fetched = time.Now(); err != nil {
		return
	}
	r.records.byAgent = make(map[string]*fsroom.Told)
	for agent, published := range all {
		rec := &fsroom.Told{At: published.At}
		if json.Unmarshal(published.Body, rec) == nil && rec.Host != r.Store().Options().Host {
			r.records.byAgent[agent] = rec
		}
	}
}

// Boot implements [fsroom.Peers]: a host says with each record in which boot it is.
func (r *mirror[S]) Boot(host string) (boot string) {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	r.fetchRecords()
	var last time.Time
	for _, rec := range r.records.byAgent {
		if rec.Host == host && rec.At.After(last) {
			boot, last = rec.Boot, rec.At
		}
	}
	return boot
}

func (r *mirror[S]) Publish(dir, changed string) {
	if !slices.Contains(r.Rules().SharedFiles, changed) || r.silent() {
		return
	}
	if r.Store().Options().Brief > 0 {
		r.Store().Background(dir, func() { r.publishNow(dir) })
		return
	}
	r.publishNow(dir)
}

func (r *mirror[S]) publishNow(dir string) {
	rec := fsroom.Told{
		Host: r.Store().Options().Host, Boot: r.Store().Options().Boot,
		Marks: make(map[string]time.Time), Signs: make(map[string]string), Files: make(map[string]json.RawMessage),
	}
	for _, name := range r.Rules().SharedFiles {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !strings.HasSuffix(name, ".json") {
			rec.Marks[name] = info.ModTime().UTC()
			if b, err := lockfile.ReadRegular(path, fsroom.LongestSign); err == nil && len(b) > 0 {
				rec.Signs[name] = string(b)
			}
		} else if b, err := lockfile.ReadRegular(path, 1<<16); err == nil && json.Valid(b) {
			rec.Files[name] = b
		}
	}
	b, err := json.Marshal(rec)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience+engine.Slack)
	defer cancel()
	_ = r.engine.Publish(ctx, r.engineName(), filepath.Base(dir), b, recordsKept) // losing it loses a timestamp
}

func (r *mirror[S]) Notify(key string) {
	if !r.silent() {
		r.engine.Notify(r.engineName(), key)
	}
}

package fsroom

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/lockfile"
)

// agentSharing is what hosts say to each other of an agent, which is named by its directory.
type agentSharing interface {
	// publish makes the agent's shared files known to the other hosts, after one of them
	// was changed here.
	publish(dir, changed string)
	// marked, content and held are those of another host: the time of a mark, the
	// content of a file that is newer than the one here, and whether a process holds
	// a mark.
	marked(key, name string) time.Time
	content(key, name string, newerThan time.Time) []byte
	held(key, name string) bool
	announce(key, name string) (withdraw func())
	notify(key string)
}

const (
	// recordsFresh is how long records that were fetched are used.
	recordsFresh = 50 * time.Millisecond
	// recordsKept is how long the engine keeps a record that is not replaced.
	recordsKept = 30 * 24 * time.Hour
	// recordsPatience bounds a look at the records. Without an answer, nothing is known of
	// agents on other hosts.
	recordsPatience = 2 * time.Second
)

// A record is what a host says of an agent that has run a command there.
type record struct {
	Host  string                     `json:"host"`
	Marks map[string]time.Time       `json:"marks,omitempty"`
	Files map[string]json.RawMessage `json:"files,omitempty"`

	at time.Time // when the engine got it
}

// records are those of one room, as they were fetched last.
type records struct {
	mu      sync.Mutex
	fetched time.Time
	byAgent map[string]*record
}

// other returns the record of an agent if another host has published it.
func (r *mirror[S]) other(key string) *record {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	if time.Since(r.records.fetched) > recordsFresh {
		ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
		defer cancel()
		r.records.byAgent = make(map[string]*record)
		all, _ := r.engine.Records(ctx, r.engineName())
		for agent, published := range all {
			rec := &record{at: published.At}
			if json.Unmarshal(published.Body, rec) == nil && rec.Host != r.store.opts.Host {
				r.records.byAgent[agent] = rec
			}
		}
		r.records.fetched = time.Now()
	}
	return r.records.byAgent[key]
}

func (r *mirror[S]) publish(dir, changed string) {
	wanted := false
	rec := record{Host: r.store.opts.Host, Marks: make(map[string]time.Time), Files: make(map[string]json.RawMessage)}
	for _, name := range r.rules.SharedFiles {
		wanted = wanted || name == changed
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !strings.HasSuffix(name, ".json") {
			rec.Marks[name] = info.ModTime().UTC()
		} else if b, err := lockfile.ReadRegular(path, 1<<16); err == nil && json.Valid(b) {
			rec.Files[name] = b
		}
	}
	if !wanted {
		return
	}
	b, err := json.Marshal(rec)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	_ = r.engine.Publish(ctx, r.engineName(), filepath.Base(dir), b, recordsKept) // losing it loses a timestamp
}

func (r *mirror[S]) marked(key, name string) time.Time {
	if rec := r.other(key); rec != nil {
		return rec.Marks[name]
	}
	return time.Time{}
}

func (r *mirror[S]) content(key, name string, newerThan time.Time) []byte {
	rec := r.other(key)
	if rec == nil || !rec.at.After(newerThan) {
		return nil
	}
	return rec.Files[name]
}

func (r *mirror[S]) held(key, name string) bool {
	if r.other(key) == nil {
		return false // no other host knows the agent
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	is, err := r.engine.Announced(ctx, r.engineName(), key, name)
	return err == nil && is == engine.Present
}

func (r *mirror[S]) announce(key, name string) (withdraw func()) {
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	withdraw, err := r.engine.Announce(ctx, r.engineName(), key, name)
	if err != nil {
		return func() {}
	}
	return withdraw
}

func (r *mirror[S]) notify(key string) { r.engine.Notify(r.engineName(), key) }

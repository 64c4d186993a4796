package fsroom

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
	// holders are the agents of other hosts whose mark a process holds there.
	holders(name string) []Holder
	notify(key string)
	// signed returns what is written in a mark that a process of another host holds, "" if
	// none does.
	signed(key, name string) string
	// heard returns when the engine got the last word of another host on an agent, on its
	// clock, and boot the boot that a host has said it is in.
	heard(key string) time.Time
	boot(host string) string
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
	Boot  string                     `json:"boot_id,omitempty"` // of the host
	Marks map[string]time.Time       `json:"marks,omitempty"`
	Signs map[string]string          `json:"signs,omitempty"` // who has signed a mark
	Files map[string]json.RawMessage `json:"files,omitempty"`

	at time.Time // when the engine got it
}

// records are those of one room, as they were fetched last. Nothing is fetched or sent while
// the mirror is locked.
type records struct {
	mu      sync.Mutex
	fetched time.Time
	byAgent map[string]*record
	hosts   map[string]*record // the last of each other host
	held    map[[2]string]bool // the last answers, by agent and mark
	putOff  []func()           // until the mirror is unlocked
}

// silent reports whether nothing is asked of the engine or told to it about agents: there is
// none, or it did not answer the last time.
func (r *mirror[S]) silent() bool { return r.engine == nil || r.away.Load() != nil }

// later puts off what is sent to the engine until the mirror is unlocked, and reports
// whether it did.
func (r *mirror[S]) later(send func()) bool {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	if !r.locked.Load() {
		return false
	}
	r.records.putOff = append(r.records.putOff, send)
	return true
}

// sendPutOff sends what was put off.
func (r *mirror[S]) sendPutOff() {
	r.records.mu.Lock()
	all := r.records.putOff
	r.records.putOff = nil
	r.records.mu.Unlock()
	for _, send := range all {
		send()
	}
}

// other returns the record of an agent if another host has published it.
func (r *mirror[S]) other(key string) *record {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	r.fetchRecords()
	return r.records.byAgent[key]
}

// fetchRecords fetches the records if that was not done lately. If the engine does not
// answer, those that were fetched before stay. r.records is locked.
func (r *mirror[S]) fetchRecords() {
	if r.silent() || r.locked.Load() || !r.records.fetched.IsZero() && time.Since(r.records.fetched) < recordsFresh {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	all, err := r.recordsOf(ctx)
	r.records.fetched = time.Now()
	if err != nil {
		return
	}
	r.records.byAgent, r.records.hosts = make(map[string]*record), make(map[string]*record)
	for agent, published := range all {
		rec := &record{at: published.At}
		if json.Unmarshal(published.Body, rec) != nil || rec.Host == r.store.opts.Host {
			continue
		}
		r.records.byAgent[agent] = rec
		if last := r.records.hosts[rec.Host]; last == nil || rec.at.After(last.at) {
			r.records.hosts[rec.Host] = rec
		}
	}
}

func (r *mirror[S]) heard(key string) time.Time {
	if rec := r.other(key); rec != nil {
		return rec.at
	}
	return time.Time{}
}

func (r *mirror[S]) boot(host string) string {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	r.fetchRecords()
	if rec := r.records.hosts[host]; rec != nil {
		return rec.Boot
	}
	return ""
}

func (r *mirror[S]) publish(dir, changed string) {
	if !slices.Contains(r.rules.SharedFiles, changed) || r.silent() || r.later(func() { r.publish(dir, changed) }) {
		return
	}
	if r.store.opts.Brief > 0 {
		r.store.background().publish(dir, func() { r.publishNow(dir) })
		return
	}
	r.publishNow(dir)
}

func (r *mirror[S]) publishNow(dir string) {
	rec := record{
		Host: r.store.opts.Host, Boot: r.store.opts.Boot,
		Marks: make(map[string]time.Time), Signs: make(map[string]string), Files: make(map[string]json.RawMessage),
	}
	for _, name := range r.rules.SharedFiles {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !strings.HasSuffix(name, ".json") {
			rec.Marks[name] = info.ModTime().UTC()
			if b, err := lockfile.ReadRegular(path, longestSign); err == nil && len(b) > 0 {
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
	if r.silent() {
		return false
	}
	if r.locked.Load() {
		r.records.mu.Lock()
		defer r.records.mu.Unlock()
		return r.records.held[[2]string{key, name}]
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	is, err := r.engine.Announced(ctx, r.engineName(), key, name)
	held := err == nil && is == engine.Present
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	if r.records.held == nil {
		r.records.held = make(map[[2]string]bool)
	}
	r.records.held[[2]string{key, name}] = held
	return held
}

// holders asks all at once: a room may have had many agents.
func (r *mirror[S]) holders(name string) (found []Holder) {
	r.records.mu.Lock()
	r.fetchRecords()
	others := r.records.byAgent
	r.records.mu.Unlock()
	var mu sync.Mutex
	var asking sync.WaitGroup
	for key, rec := range others {
		at, marked := rec.Marks[name]
		if !marked {
			continue
		}
		asking.Go(func() {
			if !r.held(key, name) {
				return
			}
			h := Holder{key: key, Marked: at}
			if id := rec.Signs[name]; agentKey(id) == key {
				h.ID = id
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, h)
		})
	}
	asking.Wait()
	return found
}

func (r *mirror[S]) signed(key, name string) string {
	if rec := r.other(key); rec != nil && rec.Signs[name] != "" && r.held(key, name) {
		return rec.Signs[name]
	}
	return ""
}

// announce tries again in the background if the engine does not answer.
func (r *mirror[S]) announce(key, name string) (withdraw func()) {
	if r.engine == nil {
		return func() {}
	}
	once := func(ctx context.Context) (withdraw func(), err error) {
		ctx, cancel := context.WithTimeout(ctx, recordsPatience)
		defer cancel()
		return r.engine.Announce(ctx, r.engineName(), key, name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	withdraw, err := once(ctx)
	if err == nil {
		cancel()
		return withdraw
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for retry := pullRetry; ; retry = min(2*retry, pullRetryMax) {
			sleepFor(ctx, retry)
			if ctx.Err() != nil {
				return
			}
			if withdraw, err := once(ctx); err == nil {
				<-ctx.Done()
				withdraw()
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func (r *mirror[S]) notify(key string) {
	if !r.silent() && !r.later(func() { r.notify(key) }) {
		r.engine.Notify(r.engineName(), key)
	}
}

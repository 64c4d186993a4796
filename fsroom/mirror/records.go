package mirror

import (
	"context"
	"encoding/json"
	"maps"
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
	recordsFresh = 50 * time.Millisecond
	// recordsKept is how long the engine keeps a record that is not replaced.
	recordsKept = 30 * 24 * time.Hour
	// recordsPatience bounds a look at the records. Without an answer, nothing is known of
	// agents on other hosts.
	recordsPatience = 2 * time.Second
	// noAnswerFresh is for how long a process that does not answer, such as a stopped one,
	// is not asked again.
	noAnswerFresh = time.Second
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
	hosts   map[string]*record           // the last of each other host
	held    map[string]map[string]answer // the last answers, by mark and agent
	putOff  []func()                     // until the mirror is unlocked
}

// An answer is whether a process holds a mark. It counts as one that was got at the time.
type answer struct {
	present bool
	until   time.Time
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
		if json.Unmarshal(published.Body, rec) != nil || rec.Host == r.Store().Options().Host {
			continue
		}
		r.records.byAgent[agent] = rec
		if last := r.records.hosts[rec.Host]; last == nil || rec.at.After(last.at) {
			r.records.hosts[rec.Host] = rec
		}
	}
}

func (r *mirror[S]) Heard(key string) time.Time {
	if rec := r.other(key); rec != nil {
		return rec.at
	}
	return time.Time{}
}

func (r *mirror[S]) Boot(host string) string {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	r.fetchRecords()
	if rec := r.records.hosts[host]; rec != nil {
		return rec.Boot
	}
	return ""
}

func (r *mirror[S]) Publish(dir, changed string) {
	if !slices.Contains(r.Rules().SharedFiles, changed) || r.silent() || r.later(func() { r.Publish(dir, changed) }) {
		return
	}
	if r.Store().Options().Brief > 0 {
		r.Store().Background(dir, func() { r.publishNow(dir) })
		return
	}
	r.publishNow(dir)
}

func (r *mirror[S]) publishNow(dir string) {
	rec := record{
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
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
	defer cancel()
	_ = r.engine.Publish(ctx, r.engineName(), filepath.Base(dir), b, recordsKept) // losing it loses a timestamp
}

func (r *mirror[S]) Marked(key, name string) time.Time {
	if rec := r.other(key); rec != nil {
		return rec.Marks[name]
	}
	return time.Time{}
}

func (r *mirror[S]) Content(key, name string, newerThan time.Time) []byte {
	rec := r.other(key)
	if rec == nil || !rec.at.After(newerThan) {
		return nil
	}
	return rec.Files[name]
}

// Held asks of all agents that may hold the mark at once, and of each once per command.
func (r *mirror[S]) Held(key, name string) bool {
	if r.other(key) == nil || r.silent() {
		return false // no other host knows the agent, or nobody would answer
	}
	return r.held(name, key)[key].present
}

// held returns who holds a mark, by agent, of the agents that have it and of others.
func (r *mirror[S]) held(name string, others ...string) map[string]answer {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	answers := r.records.held[name]
	if r.locked.Load() {
		return answers
	}
	for key, rec := range r.records.byAgent {
		if _, marked := rec.Marks[name]; marked && !slices.Contains(others, key) {
			others = append(others, key)
		}
	}
	now := time.Now()
	fresh := max(recordsFresh, r.Store().Options().Brief)
	all := maps.Clone(answers)
	if all == nil {
		all = make(map[string]answer)
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, key := range others {
		if a, asked := answers[key]; asked && now.Before(a.until.Add(fresh)) {
			continue
		}
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), recordsPatience)
			defer cancel()
			is, err := r.engine.Announced(ctx, r.engineName(), key, name)
			a := answer{err == nil && is == engine.Present, time.Now()}
			if err != nil {
				a.until = a.until.Add(noAnswerFresh)
			}
			mu.Lock()
			defer mu.Unlock()
			all[key] = a
		})
	}
	asking.Wait()
	if r.records.held == nil {
		r.records.held = make(map[string]map[string]answer)
	}
	r.records.held[name] = all
	return all
}

// Holders implements [fsroom.Peers].
func (r *mirror[S]) Holders(name string) (found []fsroom.Holder) {
	r.records.mu.Lock()
	r.fetchRecords()
	others := r.records.byAgent
	r.records.mu.Unlock()
	if r.silent() {
		return nil
	}
	for key, a := range r.held(name) {
		rec := others[key]
		if rec == nil || !a.present {
			continue
		}
		at, marked := rec.Marks[name]
		if !marked {
			continue
		}
		h := fsroom.Holder{Key: key, Marked: at}
		if id := rec.Signs[name]; fsroom.AgentKey(id) == key {
			h.ID = id
		}
		found = append(found, h)
	}
	return found
}

func (r *mirror[S]) Signed(key, name string) string {
	if rec := r.other(key); rec != nil && rec.Signs[name] != "" && r.Held(key, name) {
		return rec.Signs[name]
	}
	return ""
}

// announce tries again in the background if the engine does not answer.
func (r *mirror[S]) Announce(key, name string) (withdraw func()) {
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

func (r *mirror[S]) Notify(key string) {
	if !r.silent() && !r.later(func() { r.Notify(key) }) {
		r.engine.Notify(r.engineName(), key)
	}
}

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
	recordsFresh = 50 * time.Millisecond
	// bootsFresh is how long the boot of another host is used. A host is not booted faster
	// than that.
	bootsFresh = 10 * time.Second
	// bootTold is how often a host says in which boot it is, in case the engine has lost it.
	bootTold = time.Hour
	// recordsKept is how long the engine keeps a record that is not replaced.
	recordsKept = 30 * 24 * time.Hour
	// recordsPatience bounds a look at the records. Without an answer, nothing is known of
	// agents on other hosts.
	recordsPatience = 2 * time.Second
	// recordsDecide is how old what is known of an agent may be in a decision, for which
	// nothing is asked while the mirror is locked. It is longer than asking takes with a far
	// engine, so that a decision that is made again finds what it missed.
	recordsDecide = 10 * time.Second
	// noAnswerFresh is for how long a process that does not answer, such as a stopped one,
	// is not asked again.
	noAnswerFresh = time.Second
)

// records are those of one room, as they were fetched last. Nothing is fetched or sent while
// the mirror is locked.
type records struct {
	mu        sync.Mutex
	fetched   time.Time            // all of them
	single    map[string]time.Time // some of them
	some      int                  // how often some were fetched, one time shortly after the other
	someAt    time.Time            // and when last
	byAgent   map[string]*fsroom.Told
	concerned []string                     // see [mirror.concern]
	held      map[string]map[string]answer // the last answers, by mark and agent
	missing   []func()                     // ask what was not known while the mirror was locked
	putOff    []func()                     // until the mirror is unlocked
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
func (r *mirror[S]) sendPutOff() { r.empty(&r.records.putOff) }

// empty takes all functions out of a list of the records, and calls them.
func (r *mirror[S]) empty(list *[]func()) {
	r.records.mu.Lock()
	all := *list
	*list = nil
	r.records.mu.Unlock()
	for _, do := range all {
		do()
	}
}

// Told returns the record of an agent if another host has published it. With the first ones
// those are fetched that the room concerns now. Who asks for more gets all.
func (r *mirror[S]) Told(key string) *fsroom.Told {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	at := r.asOf(key)
	switch {
	case r.locked.Load() && !r.silent() && time.Since(at) > recordsDecide:
		r.records.missing = append(r.records.missing, func() { r.Told(key) })
	case r.isFresh(at):
	case r.records.some < mostSome || !r.isFresh(r.records.someAt):
		keys := []string{key}
		for _, other := range r.records.concerned {
			if other != key && !r.isFresh(r.asOf(other)) {
				keys = append(keys, other)
			}
		}
		r.fetchRecords(keys...)
	default:
		r.fetchRecords()
	}
	return r.records.byAgent[key]
}

// concern notes which records are likely to be asked for together in the state of the room.
func (r *mirror[S]) concern(state S) {
	if r.engine == nil || r.Rules().Concerned == nil {
		return
	}
	var keys []string
	ids, host := r.Rules().Concerned(state)
	for _, id := range ids {
		keys = append(keys, fsroom.AgentKey(id))
	}
	if host != "" {
		keys = append(keys, hostKey(host))
	}
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	r.records.concerned = keys
}

// mostSome is how often some records are fetched before all are.
const mostSome = 3

// isFresh reports whether what was fetched at the time is used.
func (r *mirror[S]) isFresh(at time.Time) bool {
	return time.Since(at) < max(recordsFresh, r.brief())
}

// fetchRecords fetches the records of agents, of all if none is named. If the engine does not
// answer, those that were fetched before stay. r.records is locked.
func (r *mirror[S]) fetchRecords(agents ...string) {
	if r.silent() || r.locked.Load() || r.isFresh(r.records.fetched) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordsPatience+engine.Slack)
	defer cancel()
	all, err := r.engine.Records(ctx, r.engineName(), agents...)
	now := time.Now()
	if r.records.single == nil {
		r.records.single = make(map[string]time.Time)
	}
	for _, key := range agents {
		r.records.single[key] = now
		if err == nil {
			delete(r.records.byAgent, key)
		}
	}
	if len(agents) == 0 {
		r.records.fetched = now
	} else if !r.isFresh(r.records.someAt) {
		r.records.some = 0
	}
	r.records.some, r.records.someAt = r.records.some+1, now
	if err != nil {
		return
	}
	if len(agents) == 0 || r.records.byAgent == nil {
		r.records.byAgent = make(map[string]*fsroom.Told)
	}
	for agent, published := range all {
		rec := &fsroom.Told{At: published.At}
		if json.Unmarshal(published.Body, rec) != nil || rec.Host == r.Store().Options().Host {
			continue
		}
		r.records.byAgent[agent] = rec
	}
}

func (r *mirror[S]) Boot(host string) string {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	key := hostKey(host)
	if due := func(key string) bool { return time.Since(r.asOf(key)) > bootsFresh }; due(key) {
		keys := []string{key}
		for _, rec := range r.records.byAgent {
			if other := hostKey(rec.Host); due(other) && !slices.Contains(keys, other) {
				keys = append(keys, other)
			}
		}
		r.fetchRecords(keys...)
	}
	if rec := r.records.byAgent[key]; rec != nil && rec.Host == host {
		return rec.Boot
	}
	return ""
}

// hostKey returns the name of the record of a host. No agent has such a name.
func hostKey(host string) string { return "_" + fsroom.AgentKey(host) }

// asOf returns when the record was fetched. r.records is locked.
func (r *mirror[S]) asOf(key string) time.Time {
	if one := r.records.single[key]; one.After(r.records.fetched) {
		return one
	}
	return r.records.fetched
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
	r.publishBoot(ctx)
	_ = r.engine.Publish(ctx, r.engineName(), filepath.Base(dir), b, recordsKept) // losing it loses a timestamp
}

// bootFile has the boot that this host has published last.
const bootFile = "boot"

// publishBoot makes known in which boot this host is, unless that was done lately.
func (r *mirror[S]) publishBoot(ctx context.Context) {
	o, path := r.Store().Options(), filepath.Join(r.Dir(), bootFile)
	info, err := os.Lstat(path)
	if o.Boot == "" || err == nil && r.Kept(bootFile) == o.Boot && time.Since(info.ModTime()) < bootTold {
		return
	}
	b, err := json.Marshal(fsroom.Told{Host: o.Host, Boot: o.Boot})
	if err == nil && r.engine.Publish(ctx, r.engineName(), hostKey(o.Host), b, recordsKept) == nil {
		r.Keep(bootFile, o.Boot)
	}
}

func (r *mirror[S]) Notify(key string) {
	if !r.silent() && !r.later(func() { r.Notify(key) }) {
		r.engine.Notify(r.engineName(), key)
	}
}

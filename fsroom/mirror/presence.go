package mirror

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
)

// An answer is whether a process holds a mark. It counts as one that was got at the time.
type answer struct {
	present bool
	until   time.Time
}

// Held asks of the agent and of all others that have the mark at once: a command makes few round trips.
func (r *mirror[S]) Held(key, name string) bool {
	if r.Told(key) == nil || r.silent() {
		return false // no other host knows the agent, or nobody would answer
	}
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	if a := r.records.held[name][key]; r.isFresh(a.until) {
		return a.present
	}
	return r.held(name, askedAtOnce, key)[key].present
}

// askedAtOnce is how many agents are asked for together with one, in case they are looked at next.
const askedAtOnce = 8

// held returns who holds a mark, by agent: it asks of those that are named and of others that have the mark and were not
// asked a moment ago, until they are so many. r.records is locked.
func (r *mirror[S]) held(name string, most int, ask ...string) map[string]answer {
	known := maps.Clone(r.records.held[name])
	if known == nil {
		known = make(map[string]answer)
	}
	for _, key := range slices.Sorted(maps.Keys(r.records.byAgent)) {
		_, marked := r.records.byAgent[key].Marks[name]
		if marked && len(ask) < most && !slices.Contains(ask, key) && !r.isFresh(known[key].until) {
			ask = append(ask, key)
		}
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, key := range ask {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), recordsPatience+engine.Slack)
			defer cancel()
			is, err := r.engine.Announced(ctx, r.engineName(), key, name)
			a := answer{err == nil && is, time.Now()}
			if err != nil {
				a.until = a.until.Add(noAnswerFresh)
			}
			mu.Lock()
			defer mu.Unlock()
			known[key] = a
		})
	}
	asking.Wait()
	if r.records.held == nil {
		r.records.held = make(map[string]map[string]answer)
	}
	r.records.held[name] = known
	return known
}

// Holders implements [fsroom.Peers].
func (r *mirror[S]) Holders(name string) (found []fsroom.Holder) {
	r.records.mu.Lock()
	r.fetchRecords()
	defer r.records.mu.Unlock()
	others := r.records.byAgent
	if r.silent() {
		return nil
	}
	for key, a := range r.held(name, len(others)) {
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

// Announce tries again in the background if the engine does not answer. When the engine was away
// and is back, it may have lost the record of the agent, which is published again.
func (r *mirror[S]) Announce(key, name string) (withdraw func()) {
	if r.engine == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	tried, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tell := sync.OnceFunc(func() { close(tried) })
		for retry := pullRetry; ctx.Err() == nil; retry = min(2*retry, pullRetryMax) {
			once, giveUp := context.WithTimeout(ctx, recordsPatience+engine.Slack)
			withdraw, err := r.engine.Announce(once, r.engineName(), key, name,
				func() { go r.publishNow(filepath.Join(r.AgentsDir(), key)) })
			giveUp()
			if tell(); err == nil {
				<-ctx.Done()
				withdraw()
				return
			}
			engine.Pause(ctx, retry)
		}
	}()
	<-tried
	return func() { cancel(); <-ended }
}

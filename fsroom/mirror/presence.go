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

// Held asks of the agent and of all others that have the mark at once: a command makes few round trips. While the
// mirror is locked nothing is asked: see askMissing.
func (r *mirror[S]) Held(key, name string) bool {
	if r.Told(key) == nil || r.silent() {
		return false // no other host knows the agent, or nobody would answer
	}
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	if r.locked.Load() {
		a := r.records.held[name][key]
		if time.Since(a.until) > recordsDecide {
			r.records.missing = append(r.records.missing, func() { r.Held(key, name) })
		}
		return a.present
	}
	return r.held(name, key)[key].present
}

// decidedInPart reports whether a decision, made while the mirror was locked, depends on what
// was not asked before. It has to be made again after [mirror.askMissing].
func (r *mirror[S]) decidedInPart() bool {
	r.records.mu.Lock()
	defer r.records.mu.Unlock()
	return len(r.records.missing) > 0
}

// askMissing asks what the last decision did not know.
func (r *mirror[S]) askMissing() { r.empty(&r.records.missing) }

// held returns who holds a mark, by agent: it asks of those that are named and of all that have the mark, unless that
// was done a moment ago. r.records is locked.
func (r *mirror[S]) held(name string, ask ...string) map[string]answer {
	if r.locked.Load() {
		return r.records.held[name]
	}
	known := maps.Clone(r.records.held[name])
	if known == nil {
		known = make(map[string]answer)
	}
	for key, rec := range r.records.byAgent {
		if _, marked := rec.Marks[name]; marked && !slices.Contains(ask, key) {
			ask = append(ask, key)
		}
	}
	ask = slices.DeleteFunc(ask, func(key string) bool { return r.isFresh(known[key].until) })
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

// Announce tries again in the background if the engine does not answer. When the engine was away
// and is back, it may have lost the record of the agent, which is published again.
func (r *mirror[S]) Announce(key, name string) (withdraw func()) {
	if r.engine == nil {
		return func() {}
	}
	once := func(ctx context.Context) (withdraw func(), err error) {
		ctx, cancel := context.WithTimeout(ctx, recordsPatience+engine.Slack)
		defer cancel()
		return r.engine.Announce(ctx, r.engineName(), key, name, func() {
			r.Keep(bootFile, "") // that of the host, too
			go r.publishNow(filepath.Join(r.AgentsDir(), key))
		})
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

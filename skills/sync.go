package skills

import (
	"context"
	"strings"

	"github.com/talking-stick/tt/skills/harness"
)

// fingerprint identifies everything that this version installs.
func fingerprint() string {
	all := []string{skillText, openCodePlugin, grokHooks()}
	for _, id := range harness.All() {
		all = append(all, indented(stopGroup(id)), indented(editGroup(id)))
	}
	return digest(strings.Join(all, "\x00"))
}

// Sync brings what is installed to what this version installs. It adds nothing
// anew, leaves alone what the user has edited, and does nothing, at the cost of
// reading one small file, when everything is up to date. Nobody waits for it: if
// another command installs, or anything is wrong, it leaves it at that. It returns
// the results of the harnesses in which something has changed.
func (e Environment) Sync(ctx context.Context) []Result {
	if strings.TrimSpace(e.Getenv("TALKING_STICK_DISABLE_SKILL_SYNC")) != "" || !e.outdated() {
		return nil
	}
	unlock, err := e.lock(ctx, 0)
	if err != nil {
		return nil
	}
	defer unlock()
	rec, err := e.loadRecord()
	if err != nil {
		return nil
	}
	var changed []Result
	for _, id := range harness.All() {
		if rec.Installs[id] == nil {
			continue
		}
		if r, ok := e.syncOne(rec.of(id), id); ok {
			changed = append(changed, r)
		}
	}
	_ = e.save(rec)
	return changed
}

// outdated reports whether any harness has something of another version.
func (e Environment) outdated() bool {
	rec, err := e.loadRecord()
	if err != nil || len(rec.Installs) == 0 {
		return false
	}
	now := fingerprint()
	for _, i := range rec.Installs {
		if i.Fingerprint != now {
			return true
		}
	}
	return false
}

func (e Environment) syncOne(was *installed, id harness.ID) (Result, bool) {
	if e.presence(id) != present {
		return Result{}, false
	}
	p := e.planner(Options{sync: true}, was)
	r := e.carryOut(p, e.installOne(p, id))
	return r, len(r.Steps) > 0
}

package skills

import (
	"context"
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// fingerprint identifies everything that this version installs.
func fingerprint() string {
	all := []string{skillText, openCodePlugin}
	for _, id := range harness.IDs() {
		h := harness.Get(id)
		bus, _ := serverPart(id, h.MCP.Servers[0], serverName, serverName).add(nil)
		all = append(all, ownHooks(hookEntries(id, true)), ownHooks(hookEntries(id, false)), string(bus))
	}
	return digestOf(strings.Join(all, "\x00"))
}

// Sync brings what is installed up to date with this version, and removes, once for
// each version, the MCP registrations of older ones. It adds nothing and leaves alone
// what the user has edited. If everything is up to date it reads one small file and
// returns. It does nothing if another installation is running or if anything is
// wrong. It returns the results of the harnesses in which something has changed.
func (e Environment) Sync(ctx context.Context) []Result {
	if e.settled() {
		return nil
	}
	rec, err := e.loadRecord()
	if err != nil {
		return nil
	}
	if !e.outdated(rec) && !e.unmigrated(rec) {
		e.settle()
		return nil
	}
	unlock, err := e.lock(ctx, 0)
	if err != nil {
		return nil
	}
	defer unlock()
	if rec, err = e.loadRecord(); err != nil { // another command may have changed it in the meantime
		return nil
	}
	if e.unmigrated(rec) {
		_, _ = e.Migrate("first-run", e.here()...)
		rec.Migrated = e.Version
	}
	var changed []Result
	outdated := e.outdated(rec)
	for _, id := range harness.IDs() {
		if rec.Installs[id] == nil || !outdated || e.presence(id) != present {
			continue
		}
		p := e.planner(Options{sync: true}, rec, id)
		if r := e.carryOut(p, e.installOne(p, id)); len(r.Steps) > 0 {
			changed = append(changed, r)
		}
	}
	if e.save(rec) == nil {
		e.settle()
	}
	return changed
}

// outdated reports whether any harness has something of another version, and whether
// the user allows that to be changed.
func (e Environment) outdated(rec *record) bool {
	if len(rec.Installs) == 0 || !e.allows(noSync) {
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

// unmigrated reports whether there may be registrations of an older version for which
// this version has not looked yet. An older version has made the data directory.
func (e Environment) unmigrated(rec *record) bool {
	return rec.Migrated != e.Version && e.MayMigrate() && isDir(e.DataDir) && len(e.here()) > 0
}

// here returns the harnesses that have a directory.
func (e Environment) here() []harness.ID {
	return slices.DeleteFunc(harness.IDs(), func(id harness.ID) bool { return !isDir(e.Root(id)) })
}

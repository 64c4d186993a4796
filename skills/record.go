package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
)

const recordFormat = 1

// lockPatience is how long a command waits for another installation to end.
const lockPatience = 5 * time.Second

// A record is the file in the data directory that says what has been installed.
type record struct {
	Format   int                       `json:"format"`
	Migrated string                    `json:"migrated,omitempty"` // the version that has looked for old MCP registrations
	Installs map[harness.ID]*installed `json:"installs"`
}

// installed is what has been installed into one harness.
type installed struct {
	Version     string                 `json:"version"`
	Fingerprint string                 `json:"fingerprint"` // of what this version installs
	Files       map[string]ownFile     `json:"files,omitempty"`
	Foreign     map[string]foreignFile `json:"merged,omitempty"`  // files of others with entries of ours
	Servers     map[string]foreignFile `json:"servers,omitempty"` // files of others in which agent-bus is registered
	MadeDirs    []string               `json:"made_dirs,omitempty"`
}

// An ownFile is a file that is ours as a whole.
type ownFile struct {
	Digest string `json:"digest"` // of what we wrote: if the file has another one, the user has edited it
}

// A foreignFile is a file of a harness with entries of ours.
type foreignFile struct {
	Original []byte   `json:"original,omitempty"` // the file without our entries
	Made     bool     `json:"made,omitempty"`     // it did not exist
	Written  string   `json:"written"`            // digest of the file with them
	Entries  []string `json:"entries,omitempty"`  // digests of the entries
}

// edited reports whether something of ours is not as it was written: the file has changed, and one of
// digests is not that of an entry as it was written. What is not on record is the user's if it is
// only by its name that it counts as ours.
func (f foreignFile) edited(now []byte, digests []string, byName bool) bool {
	changed := func(d string) bool { return !slices.Contains(f.Entries, d) }
	return (byName || len(f.Entries) > 0) && digestOf(string(now)) != f.Written && slices.ContainsFunc(digests, changed)
}

// content returns the original content, nil if the file did not exist.
func (f foreignFile) content() []byte {
	if f.Made {
		return nil
	}
	return append([]byte{}, f.Original...)
}

// maxRecord is how large a file of this package may be. The record has what was in the files of users before.
const maxRecord = 64 << 20

func (e Environment) recordPath() string { return filepath.Join(e.DataDir, "installs.json") }

// loadRecord reads the record. A missing one is empty. A damaged one, or one of a
// newer format, is an error: guessing might change files of the user.
func (e Environment) loadRecord() (*record, error) {
	r := &record{Format: recordFormat, Installs: map[harness.ID]*installed{}}
	data, err := lockfile.ReadRegular(e.recordPath(), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, code.New(code.DataDirUnusable, "the record of installations is damaged").
			WithHint("move %s away and run the command again; what is installed then counts as yours", e.recordPath()).Because(err)
	}
	if r.Format > recordFormat {
		return nil, code.New(code.UnsupportedFormat, "%s was written by a newer tt", e.recordPath()).
			WithHint("update tt")
	}
	return r, nil
}

// of returns the entry of id, a new one if there is none.
func (r *record) of(id harness.ID) *installed {
	i := &installed{Files: map[string]ownFile{}, Foreign: map[string]foreignFile{}, Servers: map[string]foreignFile{}}
	if known := r.Installs[id]; known != nil {
		i.Version, i.Fingerprint, i.MadeDirs = known.Version, known.Fingerprint, known.MadeDirs
		maps.Copy(i.Files, known.Files)
		maps.Copy(i.Foreign, known.Foreign)
		maps.Copy(i.Servers, known.Servers)
	}
	r.Installs[id] = i
	return i
}

// save writes the record without the harnesses into which nothing is installed. The
// caller holds the lock.
func (e Environment) save(r *record) error {
	for id, i := range r.Installs {
		if len(i.Files) == 0 && len(i.Foreign) == 0 && len(i.Servers) == 0 {
			delete(r.Installs, id)
		}
	}
	text := []byte(indented(r))
	if old, err := lockfile.ReadRegular(e.recordPath(), maxRecord); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return lockfile.Replace(e.recordPath(), text, e.DataDir)
}

// lock takes the lock under which installations are changed. It makes the data
// directory if it does not exist.
func (e Environment) lock(ctx context.Context, patience time.Duration) (unlock func() error, err error) {
	if err := lockfile.MakeDirs(e.DataDir, 0o700); err != nil {
		return nil, err
	}
	// The kernel waits in real time, so e.Now is not used here.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := filepath.Join(e.DataDir, "installs.lock")
	unlock, err = lockfile.Lock(ctx, path)
	lockfile.Adopt(path)
	return unlock, err
}

// The environment variables that switch updates off.
const (
	noSync    = "TALKING_STICK_DISABLE_SKILL_SYNC"
	noMigrate = "TALKING_STICK_DISABLE_MCP_MIGRATION"
)

// allows reports whether a variable leaves updates on.
func (e Environment) allows(variable string) bool { return strings.TrimSpace(e.Getenv(variable)) == "" }

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
// what the user has edited. If everything is up to date it only reads the record. It does nothing if another installation is running or if anything is
// wrong. It returns the results of the harnesses in which something has changed.
func (e Environment) Sync(ctx context.Context) []Result {
	rec, err := e.loadRecord()
	if err != nil || len(e.outdated(rec)) == 0 && !e.unmigrated(rec) {
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
	for _, id := range e.outdated(rec) {
		p := e.planner(Options{sync: true}, rec, id)
		if r := e.carryOut(p, e.installOne(p, id)); len(r.Steps) > 0 {
			changed = append(changed, r)
		}
	}
	_ = e.save(rec)
	return changed
}

// outdated returns the harnesses on this machine that have something of another version, none if
// the user does not allow that to be changed.
func (e Environment) outdated(rec *record) []harness.ID {
	if len(rec.Installs) == 0 || !e.allows(noSync) {
		return nil
	}
	now := fingerprint()
	return slices.DeleteFunc(harness.IDs(), func(id harness.ID) bool {
		i := rec.Installs[id]
		return i == nil || i.Fingerprint == now || e.presence(id) != present
	})
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

package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
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

func (i *installed) empty() bool {
	return len(i.Files) == 0 && len(i.Foreign) == 0 && len(i.Servers) == 0
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
	i := r.Installs[id]
	if i == nil {
		i = &installed{}
		r.Installs[id] = i
	}
	if i.Files == nil {
		i.Files = map[string]ownFile{}
	}
	if i.Foreign == nil {
		i.Foreign = map[string]foreignFile{}
	}
	if i.Servers == nil {
		i.Servers = map[string]foreignFile{}
	}
	return i
}

// save writes the record without the harnesses into which nothing is installed. The
// caller holds the lock.
func (e Environment) save(r *record) error {
	for id, i := range r.Installs {
		if i.empty() {
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

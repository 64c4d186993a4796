package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills/harness"
	"github.com/talking-stick/tt/skills/jsonc"
)

const recordFormat = 1

// lockPatience is how long a command waits for another one that installs.
const lockPatience = 5 * time.Second

// A record is what has been installed, as written into the data directory.
type record struct {
	Format   int                       `json:"format"`
	Installs map[harness.ID]*installed `json:"installs"`
}

// installed is what one harness has got.
type installed struct {
	Version     string             `json:"version"`
	Fingerprint string             `json:"fingerprint"` // of what this version installs
	Files       map[string]ownFile `json:"files,omitempty"`
	Links       map[string]string  `json:"links,omitempty"`   // link path → target
	Edits       map[string]edit    `json:"edits,omitempty"`   // file#place → how to undo it
	Origins     map[string]origin  `json:"origins,omitempty"` // merged file → how it was
	MadeDirs    []string           `json:"made_dirs,omitempty"`
}

// An ownFile is a file that is ours as a whole.
type ownFile struct {
	Digest string `json:"digest"` // of what we wrote; another one on disk means that the user has edited it
}

// An edit is one entry of ours in somebody else's file.
type edit struct {
	Undo jsonc.Undo `json:"undo"`
}

// An origin tells how a merged file was before, if it was no JSON document.
type origin struct {
	Made  bool   `json:"made,omitempty"`  // it did not exist
	Blank string `json:"blank,omitempty"` // it existed with nothing but this white space
}

func (i *installed) empty() bool {
	return len(i.Files) == 0 && len(i.Links) == 0 && len(i.Edits) == 0
}

func (e Environment) recordPath() string { return filepath.Join(e.DataDir, "installs.json") }

// loadRecord reads the record; a missing one is empty. One of a newer format is
// refused, a damaged one too: guessing would touch what may be the user's.
func (e Environment) loadRecord() (*record, error) {
	r := &record{Format: recordFormat, Installs: map[harness.ID]*installed{}}
	data, err := os.ReadFile(e.recordPath())
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

// of returns what id has got, making an empty entry if there is none.
func (r *record) of(id harness.ID) *installed {
	i := r.Installs[id]
	if i == nil {
		i = &installed{}
		r.Installs[id] = i
	}
	if i.Files == nil {
		i.Files = map[string]ownFile{}
	}
	if i.Links == nil {
		i.Links = map[string]string{}
	}
	if i.Edits == nil {
		i.Edits = map[string]edit{}
	}
	if i.Origins == nil {
		i.Origins = map[string]origin{}
	}
	return i
}

// save writes the record, without the harnesses that have nothing any more. The
// caller holds the lock.
func (e Environment) save(r *record) error {
	for id, i := range r.Installs {
		if i.empty() {
			delete(r.Installs, id)
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return err
	}
	if old, err := os.ReadFile(e.recordPath()); err == nil && bytes.Equal(old, out.Bytes()) {
		return nil
	}
	return lockfile.Replace(e.recordPath(), out.Bytes(), e.DataDir)
}

// lock makes the data directory if need be and takes the lock under which
// installations are changed.
func (e Environment) lock(ctx context.Context, patience time.Duration) (unlock func() error, err error) {
	if err := os.MkdirAll(e.DataDir, 0o700); err != nil {
		return nil, err
	}
	// The deadline is the kernel's business, so it is real time.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return lockfile.Lock(ctx, filepath.Join(e.DataDir, "installs.lock"))
}

package fsroom

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

// keptName is the name under which the bytes of a file are kept beside it:
// journal.damaged-1a2b3c4d.jsonl. In the archive it ends differently, or it would
// be taken for a journal.
func keptName(path, why string, b []byte) string {
	sum := sha256.Sum256(b)
	mark := "." + why + "-" + hex.EncodeToString(sum[:4])
	name := filepath.Base(path)
	if archivedUpTo(name) > 0 {
		return name + mark
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + mark + ext
}

// keep puts the bytes of a file beside it. nil means that they are on disk.
// The same bytes are kept once.
func (r *Room[S]) keep(path, why string, b []byte) error {
	kept := filepath.Join(filepath.Dir(path), keptName(path, why, b))
	if have, err := lockfile.ReadRegular(kept, maxSalvage); err == nil && string(have) == string(b) {
		return r.store.opts.SyncDir(filepath.Dir(kept))
	}
	return r.replace(kept, b)
}

// asideMark is in the name of what was moved aside.
const asideMark = ".aside-"

func isAside(path string) bool { return strings.Contains(filepath.Base(path), asideMark) }

// moveAside gives what stands in the place of a file another name, without
// following it if it is a link.
func (r *Room[S]) moveAside(path string) error {
	if err := os.Rename(path, path+asideMark+r.store.opts.NewID()[:8]); err != nil {
		return err
	}
	return r.store.opts.SyncDir(filepath.Dir(path))
}

// archivedFrom returns the first event_seq that an archiveName tells.
func archivedFrom(path string) int64 {
	first, _, _ := strings.Cut(filepath.Base(path), "-")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

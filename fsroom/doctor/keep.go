package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/lockfile"
)

// keptName returns the name under which the bytes of a file are kept beside it:
// journal.damaged-1a2b3c4d.jsonl. In the archive the name does not end in .jsonl, which
// would make it that of a journal.
func keptName(path, why string, b []byte) string {
	sum := sha256.Sum256(b)
	mark := "." + why + "-" + hex.EncodeToString(sum[:4])
	name := filepath.Base(path)
	if _, last := fsroom.ArchivedEvents(name); last > 0 {
		return name + mark
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + mark + ext
}

// keep writes the bytes of a file to another one beside it. When it returns nil, they are
// on the disk. The same bytes are kept once.
func (r *repairer[S]) keep(path, why string, b []byte) error {
	kept := filepath.Join(filepath.Dir(path), keptName(path, why, b))
	if have, err := lockfile.ReadRegular(kept, maxSalvage); err == nil && string(have) == string(b) {
		return r.Room.Store().Options().SyncDir(filepath.Dir(kept))
	}
	return r.Room.Replace(kept, b)
}

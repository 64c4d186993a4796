package ledger

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
)

// converts reports whether files may be stored as something else than what they are.
func (r *repository) converts() bool {
	return r.config.convertsEnds || exists(filepath.Join(r.top, ".gitattributes")) || exists(filepath.Join(r.common, "info", "attributes"))
}

// storedAs returns as what git may store a file: as it is, with line ends of its own, or as what stands for it if its
// content is kept elsewhere (Git LFS). Which it is depends on attributes, which are not read, nor is any filter run.
func (o *objects) storedAs(s State) []ID {
	if !o.converts || !isRegular(s.Mode) {
		return []ID{s.ID}
	}
	ids := o.stored[s.ID]
	if ids == nil {
		ids = []ID{s.ID}
		if b, err := o.blob(s.ID); err == nil {
			pointer := fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256(b), len(b))
			ids = append(ids, hashObject(kindBlob, bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))), hashObject(kindBlob, pointer))
		}
		o.stored[s.ID] = ids
	}
	return ids
}

// isStoredAs reports whether a file is what git has in a commit.
func (o *objects) isStoredAs(s, in State) bool {
	return o.sameMode(s.Mode, in.Mode) && slices.Contains(o.storedAs(s), in.ID)
}

// sameMode reports whether git takes one mode for the other.
func (o *objects) sameMode(a, b uint32) bool {
	return a == b || o.noModes && isRegular(a) && isRegular(b)
}

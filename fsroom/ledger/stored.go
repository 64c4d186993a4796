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

// forms returns as what git may store a content: as it is, with line ends of its own, or as what stands for it if it
// is kept elsewhere (Git LFS). Which it is depends on attributes, which are not read, nor is any filter run.
func (o *objects) forms(id ID, b []byte) []ID {
	ids := []ID{id}
	if o.converts {
		pointer := fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256(b), len(b))
		ids = append(ids, hashObject(kindBlob, bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))), hashObject(kindBlob, pointer))
	}
	return ids
}

// storedAs returns the forms of a file.
func (o *objects) storedAs(s State) []ID {
	if !o.converts || !isRegular(s.Mode) {
		return []ID{s.ID}
	}
	if o.stored[s.ID] == nil {
		o.stored[s.ID] = []ID{s.ID}
		if b, err := o.blob(s.ID); err == nil {
			o.stored[s.ID] = o.forms(s.ID, b)
		}
	}
	return o.stored[s.ID]
}

// isStoredAs reports whether a file is what git has in a commit.
func (o *objects) isStoredAs(s, in State) bool {
	return o.sameMode(s.Mode, in.Mode) && slices.Contains(o.storedAs(s), in.ID)
}

// sameMode reports whether git takes one mode for the other.
func (o *objects) sameMode(a, b uint32) bool {
	return a == b || o.noModes && isRegular(a) && isRegular(b)
}

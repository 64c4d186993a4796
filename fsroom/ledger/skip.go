package ledger

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/journal/wire"
)

// builtin are directories that nobody wants to have back where no repository says what to
// ignore.
const builtin = "node_modules/\ntarget/\nbuild/\ndist/\n.venv/\nvenv/\n__pycache__/\n.gradle/\n.next/\n.nuxt/\n.cache/\n.tox/\n.mypy_cache/\n.pytest_cache/\n" +
	".terraform/\nDerivedData/\n.svn/\n.hg/\n.jj/\n"

// IsSecret reports whether a file of that name is expected to have passwords or keys. Such a
// file is never read unless git tracks it.
func IsSecret(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	lower := strings.ToLower(name)
	switch lower {
	case ".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials":
		return true
	}
	if rest, ok := strings.CutPrefix(lower, ".env."); ok {
		return rest != "example" && rest != "sample" && rest != "template"
	}
	for _, prefix := range []string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "credentials"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	for _, suffix := range []string{".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore"} {
		if strings.HasSuffix(lower, suffix) {
			return true
		}
	}
	return false
}

// isSecretPath reports whether a part of the path is the name of a secret.
func isSecretPath(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if IsSecret(name) {
			return true
		}
	}
	return false
}

// Why something was left out of a snapshot.
const (
	LeftLarge      = "large"
	LeftTooMany    = "too_many"
	LeftRepository = "repository"
	LeftSecret     = "secret"
	LeftUnreadable = "unreadable"
	LeftIgnored    = "ignored" // it is now; it was in an earlier snapshot
)

// A LeftOut is a file or directory that is not in a snapshot, or is in it as it was before: what
// cannot be read now, another repository, what is large.
type LeftOut struct {
	Path  string `json:"path,omitempty"`
	Why   string `json:"why"`
	Files int    `json:"files,omitempty"` // of a directory with too many
}

// Fields implements [wire.Fields].
func (l *LeftOut) Fields(c *wire.Codec) {
	c.OptText("path", &l.Path)
	c.Text("why", &l.Why)
	c.OptNum("files", &l.Files)
}

// oneOfTooMany is the content of a file in [Snapshot.Ignored] that is not ignored.
var oneOfTooMany = ID{1}
// isPrivate reports whether it must not be read. It is in no snapshot from then on; that it is
// missing does not mean that it was removed.
func (l LeftOut) isPrivate() bool { return l.Why == LeftIgnored || l.Why == LeftSecret }

// private returns the paths that must not have been read in one of two snapshots: what one of
// them has there is no difference.
func private(a, b *Snapshot) leftOut {
	public := func(l LeftOut) bool { return !l.isPrivate() }
	return newLeftOut(slices.DeleteFunc(slices.Concat(a.LeftOut, b.LeftOut), public))
}

// A leftOut has the paths that are left out.
type leftOut map[string]bool

func newLeftOut(lists ...[]LeftOut) leftOut {
	l := make(leftOut)
	for _, x := range slices.Concat(lists...) {
		l[x.Path] = true
	}
	return l
}

// has reports whether the path, or a directory above it, is left out.
func (l leftOut) has(path string) bool {
	for ; path != "" && !l[path]; path = parent(path) {
	}
	return l[path]
}

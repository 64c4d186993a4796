package ledger

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// builtin are directories that nobody wants to have back where no repository says what to ignore.
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
	begins := func(prefix string) bool { return strings.HasPrefix(lower, prefix) }
	ends := func(suffix string) bool { return strings.HasSuffix(lower, suffix) }
	return slices.ContainsFunc([]string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "credentials"}, begins) ||
		slices.ContainsFunc([]string{".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore"}, ends)
}

// IsSecretPath reports whether a part of the path is the name of a secret.
func IsSecretPath(path string) bool { return slices.ContainsFunc(strings.Split(path, "/"), IsSecret) }

// Why something was left out of a snapshot.
const (
	LeftLarge      = "large"
	LeftTooMany    = "too_many"
	LeftRepository = "repository"
	LeftRoom       = "room" // somebody else has a turn there
	LeftSecret     = "secret"
	LeftUnreadable = "unreadable"
	LeftIgnored    = "ignored"  // by git, which did not ignore it when it was recorded
	LeftChanging   = "changing" // while it was read: what is in the snapshot may be of several moments
)

// A LeftOut is a file or directory that is not in a snapshot, or is in it as it was before: what
// cannot be read now, another repository or room, what is large; or that may be torn: what changed while it was read.
type LeftOut struct {
	Path  string `json:"path,omitempty"`
	Why   string `json:"why"`
	Files int    `json:"files,omitempty"` // of a directory with too many
}

// The contents of files in [Snapshot.Ignored]: one that is not ignored but one of too many, and one that is and has
// the name of a secret. Others are empty.
var (
	oneOfTooMany  = ID{1}
	ignoredSecret = ID{2}
)

// ignored returns a tree of the paths that are there and that git ignores, or that are left out because
// there are too many. They stand in it as submodules do, which have no content, in 256 directories that
// are much the same size, however many names one of the user's has.
func (s *scanner) ignored(top *directory) (ID, error) {
	paths := make(map[string][]entry) // by directory
	var add func(*directory)
	add = func(d *directory) {
		for i, name := range slices.Concat(d.ignored, d.left) {
			id := emptyBlob
			switch {
			case i >= len(d.ignored):
				id = oneOfTooMany
			case IsSecret(name):
				id = ignoredSecret
			}
			dir, hash, _ := strings.Cut(hashed(d.prefix()+name), "/")
			paths[dir] = append(paths[dir], entry{hash, modeModule, id})
		}
		for i := range d.files {
			if sub := d.files[i].sub; sub != nil {
				add(sub)
			}
		}
	}
	add(top)
	var all []entry
	for _, dir := range slices.Sorted(maps.Keys(paths)) {
		id, err := s.objects.putTree(paths[dir])
		if err != nil {
			return ID{}, err
		}
		all = append(all, entry{dir, modeDir, id})
	}
	if len(all) == 0 {
		return ID{}, nil
	}
	return s.objects.putTree(all)
}

// hashed returns where a path is in [Snapshot.Ignored]. It tells nobody the path.
func hashed(path string) string {
	sum := sha1.Sum([]byte(path))
	return hex.EncodeToString(sum[:1]) + "/" + hex.EncodeToString(sum[1:9])
}

// ignoredIn returns what [Snapshot.Ignored] says of a path.
func (o *objects) ignoredIn(s *Snapshot, path string) (State, error) {
	return o.at(s.Ignored, hashed(path))
}

// ignoredAt returns the path, or the directory above it, that was there and ignored; "" if none was.
func (o *objects) ignoredAt(s *Snapshot, path string) (at string, err error) {
	for at = path; at != ""; at = parent(at) {
		if st, err := o.ignoredIn(s, at); err != nil || st.exists() && st.ID != oneOfTooMany {
			return at, err
		}
	}
	return "", nil
}

// ignoredSince returns the paths of a snapshot that git ignored at another one, where they still were: what they were
// there is not known.
func (v *View) ignoredSince(from, to *Snapshot, filters []string) (found []Step, err error) {
	if from.Ignored == to.Ignored {
		return nil, nil
	}
	found, err = v.compare(from, to, filters)
	found = slices.DeleteFunc(found, func(d Step) bool {
		at, err2 := v.objects.ignoredAt(to, d.Path)
		err = cmp.Or(err, err2)
		return d.To.exists() || at == ""
	})
	return found, err
}

// unseen returns a function that reports whether a path of which only one of two snapshots has
// something is no difference: it may have been there at the other, which did not look.
func (o *objects) unseen(from, to *Snapshot) func(Step) (bool, error) {
	read := func(l LeftOut) bool { return l.Why != LeftSecret } // or it may be told that it is there now
	secret := &Snapshot{LeftOut: slices.DeleteFunc(slices.Clone(from.LeftOut), read)}
	before, after := o.leftOut(secret), o.leftOut(to)
	return func(d Step) (bool, error) {
		s, left := to, after
		switch {
		case !d.From.exists():
			s, left = from, before
		case d.To.exists():
			return false, nil
		}
		at, err := o.ignoredAt(s, d.Path)
		return at != "" || left(d.Path), err
	}
}

// leftOut returns a function that reports whether a path, or a directory above it, is left out of one
// of the snapshots. What is not there is not one of too many, and what was changing is there.
func (o *objects) leftOut(snapshots ...*Snapshot) func(path string) bool {
	left := make(map[string]bool)
	for _, s := range snapshots {
		for _, l := range s.LeftOut {
			left[l.Path] = left[l.Path] || l.Why != LeftTooMany && l.Why != LeftChanging
		}
	}
	return func(path string) bool {
		return isBelow(left, path) || slices.ContainsFunc(snapshots, func(s *Snapshot) bool {
			st, err := o.ignoredIn(s, path)
			return err != nil || st.ID == oneOfTooMany
		})
	}
}

package ledger

import (
	"path/filepath"
	"slices"
	"strings"
)

// rules say what of a repository counts.
type rules struct {
	ignores *ignores
	tracked tracked
	fold    bool
}

// topRules returns what counts at the root of the tree, without its own files, and where that
// is in its repository.
func (v *View) topRules() (what *rules, inRepo string, err error) {
	if v.repo == nil {
		return &rules{ignores: (*ignores)(nil).with("", builtin, false)}, "", nil
	}
	what = &rules{ignores: v.repo.ignores(), fold: v.repo.config.ignoreCase}
	if what.tracked, err = readIndex(v.repo.gitDir); err != nil {
		return nil, "", err
	}
	rel, err := filepath.Rel(v.repo.top, v.ledger.opts.Root)
	if err != nil || rel == "." {
		return what, "", err
	}
	dir := v.repo.top
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") { // the files above the root
		what = what.in(dir, inRepo)
		dir, inRepo = filepath.Join(dir, name), inRepo+name+"/"
	}
	return what, inRepo, nil
}

// in returns what counts in a directory, which may have rules of its own.
func (r *rules) in(dir, inRepo string) *rules {
	b, err := readSmall(filepath.Join(dir, ".gitignore"))
	if err != nil {
		return r
	}
	return &rules{r.ignores.with(inRepo, string(b), r.fold), r.tracked, r.fold}
}

// rulesIn returns what counts in a directory, nil if it is a repository of its own, where
// nothing does.
func (s *scanner) rulesIn(d *directory, full string, names []file, what *rules) *rules {
	own := func(f file) bool { return f.name == ".gitignore" && isRegular(f.mode) }
	if d.path != "" && slices.ContainsFunc(names, func(f file) bool { return f.name == ".git" }) {
		if what = s.submodule(d, full); what == nil {
			return nil
		}
	}
	if !slices.ContainsFunc(names, own) {
		return what
	}
	return what.in(full, d.inRepo)
}

// submodule returns what counts in a submodule, nil if the directory is another repository.
func (s *scanner) submodule(d *directory, full string) *rules {
	b, err := readSmall(filepath.Join(full, ".git"))
	if err != nil || !strings.Contains(filepath.ToSlash(string(b)), "/modules/") {
		return nil
	}
	repo := openRepository(full, s.home)
	if repo == nil {
		return nil
	}
	paths, err := readIndex(repo.gitDir)
	if err != nil {
		return nil
	}
	d.inRepo, d.only = "", false
	return &rules{ignores: repo.ignores(), tracked: paths, fold: repo.config.ignoreCase}
}

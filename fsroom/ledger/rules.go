package ledger

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/gitfile"
)

// rules say what counts in a directory, those of the deepest file first.
type rules struct {
	base    string // the directory of the file with a slash at its end, "" for the top
	ignored []rule
	fold    bool // without regard to case
	tracked tracked
	outer   *rules
}

// with returns the rules together with those of one more file, which is in the directory base.
func (r *rules) with(base, content string) *rules {
	more := &rules{base: base, fold: r.fold, tracked: r.tracked, outer: r}
	for line := range strings.SplitSeq(strings.TrimPrefix(content, "\ufeff"), "\n") {
		if rule, ok := parseRule(strings.TrimSuffix(line, "\r"), r.fold); ok {
			more.ignored = append(more.ignored, rule)
		}
	}
	return more
}

// topRules returns what counts at the root of the tree, without its own files, and where that is in its repository.
func (v *View) topRules() (what *rules, inRepo string, err error) {
	if v.repo == nil {
		return new(rules).with("", builtin), "", nil
	}
	if what, err = v.repo.rules(); err != nil {
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
	b, err := gitfile.Read(filepath.Join(dir, ".gitignore"))
	if err != nil {
		return r
	}
	return r.with(inRepo, string(b))
}

// rulesIn returns what counts in a directory, nil if it is a repository of its own, where nothing does.
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
	b, err := gitfile.Read(filepath.Join(full, ".git"))
	if err != nil || !strings.Contains(filepath.ToSlash(string(b)), "/modules/") {
		return nil
	}
	repo := openRepository(full, s.home)
	if repo == nil {
		return nil
	}
	what, err := repo.rules()
	if err == nil {
		d.inRepo, d.only = "", false
	}
	return what
}

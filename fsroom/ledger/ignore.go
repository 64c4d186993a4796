package ledger

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/gitfile"
)

// A rule is one line of a .gitignore file.
type rule struct {
	glob    string
	negated bool
	dirOnly bool
	anchor  bool   // matched against the path below the file's directory, else against the name
	literal bool   // without special characters
	suffix  string // of "*suffix" without a slash
}

// special are the characters that make a pattern of a name.
const special = `*?[\`

// parseRule reads a line of a .gitignore file; ok is false for one without a rule.
func parseRule(line string, fold bool) (r rule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, line[:len(line)-1]
	}
	r.anchor = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	if fold {
		line = strings.ToLower(line)
	}
	r.glob, r.literal = line, !strings.ContainsAny(line, special)
	if !r.anchor && line[0] == '*' && !strings.ContainsAny(line[1:], special) {
		r.suffix = line[1:]
	}
	return r, true
}

// match reports whether a name in the directory dir ("" or with a slash at its end) is
// ignored. The directories above it are taken not to be.
func (g *rules) match(dir, name string, isDir bool) bool {
	for ; g != nil; g = g.outer {
		path := dir[len(g.base):] + name
		last := name
		if g.fold {
			path, last = strings.ToLower(path), strings.ToLower(last)
		}
		for i := len(g.ignored) - 1; i >= 0; i-- {
			r := &g.ignored[i]
			if r.dirOnly && !isDir {
				continue
			}
			subject := last
			if r.anchor {
				subject = path
			}
			if r.matches(subject) {
				return !r.negated
			}
		}
	}
	return false
}

func (r *rule) matches(subject string) bool {
	switch {
	case r.literal:
		return subject == r.glob
	case r.suffix != "":
		return strings.HasSuffix(subject, r.suffix)
	}
	rest := r.glob
	if r.anchor { // git compares what has no special characters first, and starts anew after it
		n := strings.IndexAny(rest, special)
		if len(subject) < n || subject[:n] != rest[:n] {
			return false
		}
		rest, subject = rest[n:], subject[n:]
	}
	return wildmatch(rest, subject, true)
}

// wildmatch matches as git does with paths: no star but a double one matches a slash.
// atStart says whether the pattern is at the beginning of a name.
func wildmatch(p, s string, atStart bool) bool {
	for len(p) > 0 {
		switch p[0] {
		case '*':
			rest := strings.TrimLeft(p, "*")
			if len(p)-len(rest) > 1 && atStart && (rest == "" || rest[0] == '/') {
				return matchDeep(rest, s)
			}
			return matchStar(rest, s)
		case '?':
			if s == "" || s[0] == '/' {
				return false
			}
			p, s, atStart = p[1:], s[1:], false
		case '[':
			n, ok := matchClass(p, s)
			if !ok {
				return false
			}
			p, s, atStart = p[n:], s[1:], false
		default:
			c := p[0]
			if c == '\\' {
				if len(p) < 2 {
					return false
				}
				p, c = p[1:], p[1]
			}
			if s == "" || s[0] != c {
				return false
			}
			p, s, atStart = p[1:], s[1:], c == '/'
		}
	}
	return s == ""
}

// matchDeep matches what follows a double star, at any depth.
func matchDeep(rest, s string) bool {
	if rest == "" {
		return true
	}
	if wildmatch(rest[1:], s, true) {
		return true
	}
	for i := range len(s) {
		if s[i] == '/' && wildmatch(rest[1:], s[i+1:], true) {
			return true
		}
	}
	return false
}

// matchStar matches what follows a star, within one name.
func matchStar(rest, s string) bool {
	for i := 0; ; i++ {
		if wildmatch(rest, s[i:], false) {
			return true
		}
		if i == len(s) || s[i] == '/' {
			return false
		}
	}
}

// matchClass matches the first byte of s with the class at the beginning of p, and returns the length of the class.
func matchClass(p, s string) (n int, ok bool) {
	if s == "" || s[0] == '/' {
		return 0, false
	}
	i, negated, found := 1, false, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	for first := true; i < len(p) && (p[i] != ']' || first); first = false {
		if strings.HasPrefix(p[i:], "[:") {
			if end := strings.Index(p[i:], ":]"); end > 0 {
				found = found || inPosixClass(p[i+2:i+end], s[0])
				i += end + 2
				continue
			}
		}
		low, k := classByte(p, i)
		high := low
		if k+1 < len(p) && p[k] == '-' && p[k+1] != ']' {
			high, k = classByte(p, k+1)
		}
		found = found || low <= s[0] && s[0] <= high
		i = k
	}
	if i >= len(p) {
		return 0, false
	}
	return i + 1, found != negated
}

// classByte returns the byte at p[i], which may be escaped, and where the next one is.
func classByte(p string, i int) (c byte, next int) {
	if p[i] == '\\' && i+1 < len(p) {
		i++
	}
	return p[i], i + 1
}

// posixClasses are the ranges of bytes that classes like [:alpha:] have.
var posixClasses = map[string]string{
	"alpha": "AZaz", "digit": "09", "alnum": "09AZaz", "upper": "AZ", "lower": "az", "xdigit": "09afAF",
	"space": "  \t\r", "blank": "  \t\t", "punct": "!/:@[`{~", "print": " ~", "graph": "!~", "cntrl": "\x00\x1f\x7f\x7f",
}

func inPosixClass(name string, c byte) bool {
	for r := posixClasses[name]; r != ""; r = r[2:] {
		if r[0] <= c && c <= r[1] {
			return true
		}
	}
	return false
}

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

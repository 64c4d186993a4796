package ledger

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

// A file is one name in a directory of the tree.
type file struct {
	name string
	stat
	id        ID
	again     bool       // its content may change without a sign: read it next time
	sameInode bool       // as in the last scan
	sub       *directory // of a directory
}

// A directory is what a scan found.
type directory struct {
	path    string // "" for the top
	inRepo  string // its path in its repository, with a slash at the end
	ctime   int64
	files   []file
	id      ID
	subdirs int  // those that have files
	same    bool // nothing has changed since the last scan
	only    bool // ignored: only what is tracked counts
	carried bool // as in the last scan: it cannot or must not be read
}

func (d *directory) prefix() string {
	if d.path == "" {
		return ""
	}
	return d.path + "/"
}

// rules say what of a repository counts.
type rules struct {
	ignores *ignores
	tracked tracked
	fold    bool
}

// A scanner reads one tree.
type scanner struct {
	ctx     context.Context
	root    string
	home    string
	limits  Limits
	old     map[string]*cachedDir
	objects *objects
	started int64
	places  chan struct{} // one for each directory that is read beside others
	wg      sync.WaitGroup

	mu     sync.Mutex
	count  int
	reads  []reading
	left   []LeftOut
	failed error
}

// A reading is a file whose content has to be read.
type reading struct {
	dir  *directory
	file *file
	old  *file // nil if it is new
	new  bool  // and nobody tracks it
}

// Limits bound what one snapshot takes. Zero fields have defaults.
type Limits struct {
	FileSize int64 // a larger file is left out
	NewFiles int   // more new files are left out, the directory with most of them first
	NewBytes int64 // as NewFiles
	Files    int   // a tree with more is refused
	Free     int64 // with less free space nothing is stored
}

func (l Limits) orDefaults() Limits {
	return Limits{
		FileSize: cmp.Or(l.FileSize, 16<<20),
		NewFiles: cmp.Or(l.NewFiles, 20_000),
		NewBytes: cmp.Or(l.NewBytes, 256<<20),
		Files:    cmp.Or(l.Files, 300_000),
		Free:     cmp.Or(l.Free, 512<<20),
	}
}

const (
	walkers = 4
	// recent is how old a change has to be for a file's times to tell that there was no other.
	recent = int64(20 * time.Millisecond)
	// recentSeconds is recent on a file system that has whole seconds only.
	recentSeconds = int64(2 * time.Second)
)

var errTooManyFiles = errors.New("the tree has too many files")

// scan reads the tree. It returns its directories with the ids of their trees.
func (s *scanner) scan(repo *repository) (*directory, error) {
	s.started = time.Now().UnixNano()
	s.places = make(chan struct{}, walkers)
	top := &directory{}
	what, err := s.topRules(repo, top)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(s.root); err != nil {
		return nil, err
	}
	s.wg.Add(1)
	s.walk(top, what, s.wg.Done)
	s.wg.Wait()
	s.fail(s.ctx.Err())
	if s.failed != nil {
		return nil, s.failed
	}
	s.leaveTooMany()
	if err := s.readAll(); err != nil {
		return nil, err
	}
	if err := s.trees(top); err != nil {
		return nil, err
	}
	sort.Slice(s.left, func(i, j int) bool { return s.left[i].Path < s.left[j].Path })
	return top, nil
}

// topRules returns what counts at the root of the tree.
func (s *scanner) topRules(repo *repository, top *directory) (what *rules, err error) {
	if repo == nil {
		return &rules{ignores: (*ignores)(nil).with("", builtin, false)}, nil
	}
	what = &rules{ignores: repo.ignores(""), fold: repo.config.ignoreCase}
	if what.tracked, err = readIndex(repo.gitDir); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(repo.top, s.root)
	if err != nil || rel == "." {
		return what, err
	}
	dir := repo.top
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") { // the files above the root
		if b, err := readSmall(filepath.Join(dir, ".gitignore")); err == nil {
			what.ignores = what.ignores.with(top.inRepo, string(b), what.fold)
		}
		dir, top.inRepo = filepath.Join(dir, name), top.inRepo+name+"/"
	}
	return what, nil
}

func (s *scanner) fail(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
}

func (s *scanner) leave(path, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, LeftOut{Path: path, Why: why})
}

// walk reads one directory and those below it, and calls done.
func (s *scanner) walk(d *directory, what *rules, done func()) {
	defer done()
	if d.carried {
		return
	}
	full := filepath.Join(s.root, filepath.FromSlash(d.path))
	names, err := readDir(full)
	if err != nil {
		s.unread(d, err)
		return
	}
	if what = s.rulesIn(d, full, names, what); what == nil {
		return
	}
	s.list(d, names, what)
	old := s.old[d.path]
	if old == nil {
		old = &cachedDir{}
	}
	at, found := 0, 0
	for i := range d.files {
		f := &d.files[i]
		if f.sub != nil {
			s.wg.Add(1)
			select {
			case s.places <- struct{}{}:
				go s.walk(f.sub, what, func() { <-s.places; s.wg.Done() })
			default:
				s.walk(f.sub, what, s.wg.Done)
			}
			continue
		}
		if was := s.compare(d, f, old.find(f.name, &at), what); was {
			found++
		}
	}
	d.same = found == len(old.files) && found == d.plain()
}

// plain returns how many names are no directories.
func (d *directory) plain() (n int) {
	for i := range d.files {
		if d.files[i].sub == nil {
			n++
		}
	}
	return n
}

// unread keeps what an unreadable directory was, rather than to call it deleted.
func (s *scanner) unread(d *directory, err error) {
	if d.path == "" {
		s.fail(err)
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.leave(d.path, LeftUnreadable)
	s.keep(d)
}

// rulesIn returns what counts in a directory, nil if it is a repository of its own, where
// nothing does.
func (s *scanner) rulesIn(d *directory, full string, names []dirStat, what *rules) *rules {
	var ignoreFile, git bool
	for i := range names {
		ignoreFile = ignoreFile || names[i].name == ".gitignore" && isRegular(names[i].mode)
		git = git || names[i].name == ".git"
	}
	if git && d.path != "" {
		if what = s.submodule(d, full); what == nil {
			s.leave(d.path, LeftRepository)
			s.keep(d)
			return nil
		}
	}
	if !ignoreFile {
		return what
	}
	b, err := readSmall(filepath.Join(full, ".gitignore"))
	if err != nil {
		return what
	}
	return &rules{what.ignores.with(d.inRepo, string(b), what.fold), what.tracked, what.fold}
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
	return &rules{ignores: repo.ignores(""), tracked: paths, fold: repo.config.ignoreCase}
}

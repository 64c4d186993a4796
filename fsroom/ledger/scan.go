package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// A stat is what the system says of a file.
type stat struct {
	mode         uint32 // of git, 0 for what is neither file, link nor directory
	perm         uint32
	inode        uint64
	size         int64
	mtime, ctime int64 // nanoseconds
}

// A file is one name in a directory of the tree.
type file struct {
	name string
	stat
	id        ID
	again     bool       // its content may change without a sign: read it next time
	same      bool       // nothing has changed since the last scan
	sameInode bool       // as in the last scan
	sub       *directory // of a directory
}

// A directory is what a scan found.
type directory struct {
	path    string     // "" for the top
	inRepo  string     // its path in its repository, with a slash at the end
	old     *directory // what the last scan found, nil if it was not there
	files   []file     // in the order of git
	id      ID
	same    bool     // nothing has changed since the last scan
	only    bool     // ignored: only what is tracked counts
	carried bool     // as in the last scan: it cannot or must not be read
	ignored []string // names that are there and that nothing tracks
	left    []string // names of what is one of too many
}

func (d *directory) prefix() string {
	if d.path == "" {
		return ""
	}
	return d.path + "/"
}

// find returns the file or directory of that name, nil if there is none.
func (d *directory) find(name string, isDir bool) *file {
	if d == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(d.files, name, func(f file, name string) int {
		return compareNames(f.name, f.mode == modeDir, name, isDir)
	})
	if !ok {
		return nil
	}
	return &d.files[i]
}

// carry makes a directory what it was in the last scan.
func (d *directory) carry(old *directory) {
	d.carried = true
	if old == nil {
		return
	}
	d.id, d.files = old.id, old.files
	for i := range d.files {
		d.files[i].again = true
		if sub := d.files[i].sub; sub != nil {
			sub.carry(sub)
		}
	}
}

// each calls f for each file of the directory and below it.
func (d *directory) each(f func(in *directory, file *file)) {
	for i := range d.files {
		if sub := d.files[i].sub; sub != nil {
			sub.each(f)
		} else {
			f(d, &d.files[i])
		}
	}
}

// A scanner reads one tree.
type scanner struct {
	ctx     context.Context
	root    string
	home    string
	limits  Limits
	objects *objects
	others  []string // see [Options].Others
	started int64
	places  chan struct{} // one for each directory that is read beside others
	wg      sync.WaitGroup

	mu     sync.Mutex
	count  int
	reads  []reading
	left   []LeftOut
	failed error

	ignores ID // the tree of [scanner.ignored]
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
func (s *scanner) scan(what *rules, top *directory) error {
	s.started = time.Now().UnixNano()
	s.places = make(chan struct{}, walkers)
	s.walk(top, what)
	s.wg.Wait()
	s.fail(s.ctx.Err())
	if s.failed != nil {
		return s.failed
	}
	s.leaveTooMany()
	var err error
	if s.ignores, err = s.ignored(top); err != nil {
		return err
	}
	if err := s.readAll(); err != nil {
		return err
	}
	return s.trees(top)
}

// Safely calls f. A panic, also one by a file that cannot be mapped any more, is an error.
func Safely(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
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

// walk reads one directory and those below it.
func (s *scanner) walk(d *directory, what *rules) {
	if s.ctx.Err() != nil { // the scan fails
		return
	}
	full := filepath.Join(s.root, filepath.FromSlash(d.path))
	names, err := readDir(full)
	switch {
	case err != nil && d.path == "":
		s.fail(err)
		return
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil: // what it was, rather than to call it deleted
		s.leave(d.path, LeftUnreadable)
		d.carry(d.old)
		return
	}
	what = s.rulesIn(d, full, names, what)
	switch {
	case what == nil:
		s.leave(d.path, LeftRepository)
		d.carry(d.old)
		return
	case slices.Contains(s.others, d.path):
		s.leave(d.path, LeftRoom)
		d.carry(d.old)
		return
	}
	slices.SortFunc(names, func(a, b file) int { return compareNames(a.name, a.mode == modeDir, b.name, b.mode == modeDir) })
	d.files = names[:0]
	for i := range names {
		was := d.old.find(names[i].name, names[i].mode == modeDir)
		if s.counts(d, &names[i], was, what) {
			d.files = append(d.files, names[i])
			s.compare(d, &d.files[len(d.files)-1], was, what)
		}
	}
}

// counts reports whether a name of a directory is in the snapshot.
func (s *scanner) counts(d *directory, f, was *file, what *rules) bool {
	if f.mode == 0 || !safeName(f.name) {
		return false
	}
	ignored := d.only || what.match(d.inRepo, f.name, f.mode == modeDir)
	secret := isRegular(f.mode) && IsSecret(f.name)
	if f.mode != modeDir && !ignored && !secret {
		return true
	}
	path, inRepo := d.prefix()+f.name, d.inRepo+f.name
	if f.mode == modeDir {
		f.sub = &directory{path: path, inRepo: inRepo + "/", only: ignored}
		if was != nil {
			f.sub.old = was.sub
		}
	}
	switch {
	case f.mode == modeDir && (!ignored || what.tracked.below(inRepo)), f.mode != modeDir && what.tracked.has(inRepo):
		return true
	case ignored:
		d.ignored = append(d.ignored, f.name)
	default:
		s.leave(path, LeftSecret)
	}
	return false
}

// compare takes over what the last scan found of a file that is as it was then. Otherwise the file is to be read.
func (s *scanner) compare(d *directory, f, was *file, what *rules) {
	f.sameInode = was != nil && was.inode == f.inode
	if sub := f.sub; sub != nil {
		select {
		case s.places <- struct{}{}:
			s.wg.Go(func() {
				s.fail(Safely(func() error { s.walk(sub, what); return nil }))
				<-s.places
			})
		default:
			s.walk(sub, what)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count++; s.count > s.limits.Files && s.failed == nil {
		s.failed = errTooManyFiles
	}
	if f.same = was != nil && !was.again && was.stat == f.stat; f.same {
		f.id = was.id
		return
	}
	s.reads = append(s.reads, reading{d, f, was, was == nil && !what.tracked.has(d.inRepo+f.name)})
}

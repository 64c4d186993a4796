package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	def := Limits{FileSize: 16 << 20, NewFiles: 20_000, NewBytes: 256 << 20, Files: 300_000, Free: 512 << 20}
	if l.FileSize == 0 {
		l.FileSize = def.FileSize
	}
	if l.NewFiles == 0 {
		l.NewFiles = def.NewFiles
	}
	if l.NewBytes == 0 {
		l.NewBytes = def.NewBytes
	}
	if l.Files == 0 {
		l.Files = def.Files
	}
	if l.Free == 0 {
		l.Free = def.Free
	}
	return l
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
	slices.SortFunc(s.left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
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

// list sets the files of a directory to the names that count.
func (s *scanner) list(d *directory, names []dirStat, what *rules) {
	d.files = make([]file, 0, len(names))
	old := s.old[d.path]
	for i := range names {
		n := &names[i]
		if n.mode == 0 || strings.EqualFold(n.name, ".git") || !safeName(n.name) {
			continue
		}
		path, inRepo := d.prefix()+n.name, d.inRepo+n.name
		f := file{name: n.name, stat: n.stat}
		ignored := d.only || what.ignores.match(d.inRepo, n.name, n.mode == modeDir)
		if n.mode == modeDir {
			f.sub = &directory{path: path, inRepo: inRepo + "/", only: ignored, ctime: n.ctime}
			if ignored && !what.tracked.below(inRepo) {
				if !s.hasOld(path) {
					continue
				}
				s.keep(f.sub)
				s.leave(path, LeftIgnored)
			}
		} else if left := s.leftWhy(ignored, inRepo, n, what); left != "" {
			was := old.named(n.name)
			if was == nil {
				if left == LeftSecret {
					s.leave(path, left)
				}
				continue
			}
			s.leave(path, left)
			f = *was
			f.again = true
		}
		d.files = append(d.files, f)
	}
	slices.SortFunc(d.files, func(a, b file) int { return compareNames(a.name, a.sub != nil, b.name, b.sub != nil) })
}

// leftWhy says why a file does not count, "" if it does.
func (s *scanner) leftWhy(ignored bool, inRepo string, n *dirStat, what *rules) string {
	secret := n.mode != modeLink && IsSecret(n.name)
	switch {
	case !ignored && !secret, what.tracked.has(inRepo):
		return ""
	case ignored:
		return LeftIgnored
	}
	return LeftSecret
}

// named returns the file with the name, nil if there is none.
func (d *cachedDir) named(name string) *file {
	if d == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(d.files, name, func(f file, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil
	}
	return &d.files[i]
}

// hasOld reports whether the last scan found something in the directory.
func (s *scanner) hasOld(path string) bool {
	d := s.old[path]
	return d != nil && (len(d.files) > 0 || d.subdirs > 0)
}

// keep makes the directory what it was in the last scan.
func (s *scanner) keep(d *directory) {
	d.carried = true
	d.files = nil
	if old := s.old[d.path]; old != nil {
		d.files = slices.Clone(old.files)
	}
	for i := range d.files {
		d.files[i].again = true
	}
	prefix := d.prefix()
	for path := range s.old {
		if name, ok := strings.CutPrefix(path, prefix); ok && name != "" && !strings.Contains(name, "/") {
			sub := &directory{path: path}
			s.keep(sub)
			d.files = append(d.files, file{name: name, stat: stat{mode: modeDir}, sub: sub})
		}
	}
	slices.SortFunc(d.files, func(a, b file) int { return compareNames(a.name, a.sub != nil, b.name, b.sub != nil) })
}

// compare takes over what the last scan found of a file that is as it was then, and reports
// whether it is. Otherwise the file is to be read.
func (s *scanner) compare(d *directory, f, was *file, what *rules) (same bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count++; s.count > s.limits.Files && s.failed == nil {
		s.failed = errTooManyFiles
	}
	if f.again && f.id != (ID{}) { // carried
		return false
	}
	f.sameInode = was != nil && was.inode == f.inode
	if was != nil && !was.again && was.stat == f.stat {
		f.id = was.id
		return true
	}
	if was != nil {
		copied := *was // the list of the last scan is shared
		was = &copied
	}
	s.reads = append(s.reads, reading{d, f, was, was == nil && !what.tracked.has(d.inRepo+f.name)})
	return false
}

// carry makes a file what it was in the last scan, or nothing if it was not there.
func (r *reading) carry() {
	if r.old == nil {
		r.file.mode = 0
		return
	}
	*r.file = *r.old
	r.file.again = true
}

// readAll reads the contents of what has changed.
func (s *scanner) readAll() error {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return err
	}
	defer root.Close()
	next := make(chan *reading)
	var wg sync.WaitGroup
	for range min(walkers, len(s.reads)) {
		wg.Go(func() {
			for r := range next {
				s.fail(s.read(root, r))
			}
		})
	}
	for i := range s.reads {
		if err := s.ctx.Err(); err != nil {
			s.fail(err)
			break
		}
		next <- &s.reads[i]
	}
	close(next)
	wg.Wait()
	return s.failed
}

// read reads one file. It returns an error only if the content could not be stored.
func (s *scanner) read(root *os.Root, r *reading) error {
	f, path := r.file, r.dir.prefix()+r.file.name
	if f.mode != modeLink && f.size > s.limits.FileSize {
		s.leave(path, LeftLarge)
		r.carry()
		return nil
	}
	data, err := content(root, filepath.FromSlash(path), f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.mode = 0
		return nil
	case err != nil:
		s.leave(path, LeftUnreadable)
		r.carry()
		return nil
	}
	margin := recent
	if f.mtime%int64(time.Second) == 0 && f.ctime%int64(time.Second) == 0 {
		margin = recentSeconds
	}
	f.again = f.again || max(f.mtime, f.ctime) > s.started-margin
	f.id, err = s.objects.put(kindBlob, data)
	return err
}

// content returns the content of a file or link. A file that changes while it is read is
// read again a few times, and then once more by the next scan.
func content(root *os.Root, path string, f *file) ([]byte, error) {
	if f.mode == modeLink {
		target, err := root.Readlink(path)
		return []byte(target), err
	}
	const tries = 4
	for try := 1; ; try++ {
		data, before, after, err := readOpen(root, path)
		if err != nil {
			return nil, err
		}
		if !isRegular(after.mode) {
			return nil, errors.New("it is no file any more")
		}
		f.stat = after
		if before == after && int64(len(data)) == after.size {
			return data, nil
		}
		if try == tries {
			f.again = true
			return data, nil
		}
	}
}

// readOpen reads a file, and returns what it was before and after that.
func readOpen(root *os.Root, path string) (data []byte, before, after stat, err error) {
	f, err := root.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	if before, err = fileStat(f); err != nil || !isRegular(before.mode) {
		return nil, before, before, err
	}
	data = make([]byte, 0, before.size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if n == 0 || err != nil {
			break
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
	after, err = fileStat(f)
	return data, before, after, err
}

// trees computes the ids of trees and stores those that are new.
func (s *scanner) trees(d *directory) error {
	kept, same := d.files[:0], d.same
	d.subdirs = 0
	for _, f := range d.files {
		if f.sub != nil {
			if err := s.trees(f.sub); err != nil {
				return err
			}
			if len(f.sub.files) == 0 {
				continue // git has no empty directories
			}
			f.id = f.sub.id
			same = same && f.sub.same
			d.subdirs++
		}
		if f.mode != 0 {
			kept = append(kept, f)
		}
	}
	d.files = kept
	old := s.old[d.path]
	if same = same && old != nil && old.subdirs == d.subdirs; same {
		d.id, d.same = old.id, true
		return nil
	}
	d.same = false
	if len(kept) == 0 && d.path != "" {
		return nil
	}
	var b []byte
	for _, f := range kept {
		b = appendEntry(b, entry{f.name, f.mode, f.id})
	}
	if d.id = hashObject(kindTree, b); old != nil && old.id == d.id {
		return nil
	}
	_, err := s.objects.put(kindTree, b)
	return err
}

// leaveTooMany leaves out directories until what is new is within the limits.
func (s *scanner) leaveTooMany() {
	for range 100 {
		files, bytes := 0, int64(0)
		for i := range s.reads {
			if r := &s.reads[i]; r.new && r.file.size <= s.limits.FileSize {
				files++
				bytes += r.file.size
			}
		}
		if files <= s.limits.NewFiles && bytes <= s.limits.NewBytes {
			return
		}
		s.leaveDir(s.largestNew(files > s.limits.NewFiles))
	}
}

// largestNew returns the deepest directory that has more than half of what is new.
func (s *scanner) largestNew(byFiles bool) string {
	weights := make(map[string]int64)
	for i := range s.reads {
		r := &s.reads[i]
		if !r.new || r.file.size > s.limits.FileSize {
			continue
		}
		w := int64(1)
		if !byFiles {
			w = r.file.size
		}
		for dir := r.dir.path; dir != ""; {
			weights[dir] += w
			slash := strings.LastIndexByte(dir, '/')
			dir = dir[:max(slash, 0)]
		}
		weights[""] += w
	}
	best := ""
	for {
		child := ""
		for dir, w := range weights {
			up := dir[:max(strings.LastIndexByte(dir, '/'), 0)]
			if dir != "" && up == best && (child == "" || w > weights[child] || w == weights[child] && dir < child) {
				child = dir
			}
		}
		if child == "" || best != "" && 2*weights[child] <= weights[best] {
			return best
		}
		best = child
	}
}

// leaveDir leaves out what is new in a directory; with "" in the whole tree.
func (s *scanner) leaveDir(dir string) {
	n := 0
	s.reads = slices.DeleteFunc(s.reads, func(r reading) bool {
		out := r.new && (dir == "" || r.dir.path == dir || strings.HasPrefix(r.dir.path, dir+"/"))
		if out {
			r.file.mode = 0
			n++
		}
		return out
	})
	s.left = append(s.left, LeftOut{Path: dir, Why: LeftTooMany, Files: n})
}

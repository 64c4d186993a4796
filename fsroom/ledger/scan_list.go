package ledger

import (
	"slices"
	"sort"
	"strings"
)

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
	sort.Slice(d.files, func(i, j int) bool {
		return compareNames(d.files[i].name, d.files[i].sub != nil, d.files[j].name, d.files[j].sub != nil) < 0
	})
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
	sort.Slice(d.files, func(i, j int) bool {
		return compareNames(d.files[i].name, d.files[i].sub != nil, d.files[j].name, d.files[j].sub != nil) < 0
	})
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

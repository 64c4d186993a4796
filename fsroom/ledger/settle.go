package ledger

import (
	"cmp"
	"io/fs"
	"math"
	"slices"
	"strings"
)

// settle makes the snapshot what the tree was at a moment before the scan, and names the paths of which that is not
// known. What has changed after the moment is taken from the last snapshot before it. The kernel's time of a file's
// change (ctime) tells before from after: no program can set it back.
func (v *View) settle(s *Snapshot, r Request) error {
	moment := r.Moment.UnixNano()
	s.At, s.End = moment, moment
	var base *Snapshot // the last one that was complete then
	differences, err := []Step(nil), fs.ErrNotExist
	if i := lastIndex(v.All, func(s *Snapshot) bool { return s.End <= moment }); i >= 0 {
		base = v.All[i]
		differences, err = v.differences(base, s, nil)
	}
	if IsLost(err) {
		s.Unsure = v.changedSince(moment, int64(r.Margin))
		return nil
	}
	if err != nil {
		return err
	}
	back := make(map[string]State)
	for _, d := range differences {
		when := v.when(d.Path, moment, int64(r.Margin))
		if when == before {
			continue
		}
		if when == unsure {
			s.Unsure = append(s.Unsure, d.Path)
		}
		back[d.Path] = d.From
		s.setPerm(d.Path, d.From.Mode, base)
	}
	s.Tree, err = v.objects.overlay(s.Scan, back)
	return err
}

// changedSince returns the paths that have changed since the moment.
func (v *View) changedSince(moment, margin int64) (paths []string) {
	v.top.each(func(in *directory, f *file) {
		if f.ctime >= moment-margin {
			paths = append(paths, in.prefix()+f.name)
		}
	})
	slices.Sort(paths)
	return paths
}

// setPerm gives a path the permissions that it has in another snapshot.
func (s *Snapshot) setPerm(path string, mode uint32, other *Snapshot) {
	delete(s.Modes, path)
	if p := other.perm(path, mode); isRegular(mode) && p != s.perm(path, mode) {
		s.Modes[path] = p
	}
}

// A when says whether something happened before a moment.
type when int

const (
	before when = iota
	after
	unsure
)

// when says whether a path changed before the moment. A file whose directory was renamed or
// replaced keeps its own times, so those above it count unless it is the file it was.
func (v *View) when(path string, moment, margin int64) when {
	in, rest, moved, same := v.top, path, false, true
	for {
		name, below, deeper := strings.Cut(rest, "/")
		f := in.find(name, deeper)
		if f == nil { // it went: the nearest directory that is on the disk has the time of it
			if compareTime(v.goneSince(path, rest), moment, margin) == before && (same || !moved) {
				return before
			}
			return unsure
		}
		w := compareTime(f.ctime, moment, margin)
		if !deeper {
			if w == before && moved && !f.sameInode {
				return unsure
			}
			return w
		}
		moved, same = moved || w != before, f.sameInode
		in, rest = f.sub, below
	}
}

// goneSince returns the time of the nearest directory on the disk in which a path was that went. The
// snapshot has the directory above rest. Those below it which it does not have, as nothing in them counts,
// may each have been put there later.
func (v *View) goneSince(path, rest string) (at int64) {
	dir := path[:len(path)-len(rest)]
	top, err := linkStat(v.ledger.full(dir))
	if err != nil || top.mode != modeDir {
		return math.MaxInt64
	}
	for {
		name, below, deeper := strings.Cut(rest, "/")
		dir, rest = dir+name+"/", below
		st, err := linkStat(v.ledger.full(dir))
		if !deeper || err != nil || st.mode != modeDir {
			return cmp.Or(at, top.ctime)
		}
		at = max(at, st.ctime)
	}
}

func compareTime(at, moment, margin int64) when {
	switch {
	case at < moment-margin:
		return before
	case at > moment+margin:
		return after
	}
	return unsure
}

func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

package ledger

import (
	"slices"
	"strings"
)

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

// largestNew returns the deepest directory that has more than half of what is new. Where none
// has, it is the one at the top that has most.
func (s *scanner) largestNew(byFiles bool) (best string) {
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
		for dir := r.dir.path; dir != ""; dir = parent(dir) {
			weights[dir] += w
		}
		weights[""] += w
	}
	for dir, w := range weights {
		if 2*w > weights[""] && len(dir) > len(best) {
			best = dir
		}
	}
	if best != "" {
		return best
	}
	most := int64(0)
	for dir, w := range weights {
		if dir != "" && parent(dir) == "" && (w > most || w == most && dir < best) {
			best, most = dir, w
		}
	}
	return best
}

// leaveDir leaves out what is new in a directory; with "" in the whole tree.
func (s *scanner) leaveDir(dir string) {
	n := 0
	s.reads = slices.DeleteFunc(s.reads, func(r reading) bool {
		out := r.new && (dir == "" || r.dir.path == dir || strings.HasPrefix(r.dir.path, dir+"/"))
		if out {
			r.file.mode = 0
			r.dir.left = append(r.dir.left, r.file.name)
			n++
		}
		return out
	})
	s.left = append(s.left, LeftOut{Path: dir, Why: LeftTooMany, Files: n})
}

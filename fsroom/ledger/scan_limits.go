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

package ledger

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// leaveTooMany leaves out directories until what is new is within the limits.
func (s *scanner) leaveTooMany() {
	for {
		type amount struct{ files, bytes int64 }
		below := make(map[string]amount) // what is new in a directory and below it
		for i := range s.reads {
			r := &s.reads[i]
			if !r.new || r.file.size > s.limits.FileSize {
				continue
			}
			for dir := r.dir.path; ; dir = parent(dir) {
				below[dir] = amount{below[dir].files + 1, below[dir].bytes + r.file.size}
				if dir == "" {
					break
				}
			}
		}
		weight := func(dir string) int64 { return below[dir].bytes }
		if below[""].files > int64(s.limits.NewFiles) {
			weight = func(dir string) int64 { return below[dir].files }
		} else if below[""].bytes <= s.limits.NewBytes {
			return
		}
		// It is the deepest one that has more than half. Where none has, it is the one at the top that has most.
		best := ""
		for dir := range below {
			if 2*weight(dir) > weight("") && len(dir) > len(best) {
				best = dir
			}
		}
		tops := slices.DeleteFunc(slices.Sorted(maps.Keys(below)), func(dir string) bool { return dir == "" || parent(dir) != "" })
		if best == "" && len(tops) > 0 {
			best = slices.MaxFunc(tops, func(a, b string) int { return cmp.Compare(weight(a), weight(b)) })
		}
		s.leaveDir(best)
	}
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

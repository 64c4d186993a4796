package ledger

import (
	"cmp"
	"maps"
	"slices"
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
		weight, most := func(dir string) int64 { return below[dir].bytes }, s.limits.NewBytes
		if below[""].files > int64(s.limits.NewFiles) {
			weight, most = func(dir string) int64 { return below[dir].files }, int64(s.limits.NewFiles)
		} else if below[""].bytes <= most {
			return
		}
		isMost := func(dir string, of int64) bool { return 2*weight(dir) > of }
		// It is the deepest one that has more than half. Where none has, they are those at the top that have most.
		best := ""
		for dir := range below {
			if isMost(dir, weight("")) && len(dir) > len(best) {
				best = dir
			}
		}
		out := []string{best}
		tops := slices.DeleteFunc(slices.Sorted(maps.Keys(below)), func(dir string) bool { return dir == "" || parent(dir) != "" })
		if best == "" && len(tops) > 0 {
			slices.SortStableFunc(tops, func(a, b string) int { return cmp.Compare(weight(b), weight(a)) })
			rest, n := weight(""), 0
			for ; n < len(tops) && rest > most && !isMost(tops[n], rest); n++ {
				rest -= weight(tops[n])
			}
			out = tops[:n]
		}
		s.leaveDirs(out)
	}
}

// leaveDirs leaves out what is new in directories; in "" it is the whole tree.
func (s *scanner) leaveDirs(dirs []string) {
	files := make(map[string]int)
	for _, dir := range dirs {
		files[dir] = 0
	}
	s.reads = slices.DeleteFunc(s.reads, func(r reading) bool {
		if !r.new {
			return false
		}
		dir := r.dir.path
		_, out := files[dir]
		for ; dir != "" && !out; _, out = files[dir] {
			dir = parent(dir)
		}
		if out {
			r.file.mode = 0
			r.dir.left = append(r.dir.left, r.file.name)
			files[dir]++
		}
		return out
	})
	for _, dir := range dirs {
		s.left = append(s.left, LeftOut{Path: dir, Why: LeftTooMany, Files: files[dir]})
	}
}

package ledger

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// A past is what the logs of a repository tell about a path of it.
type past struct {
	objects *objects
	inRepo  string       // where the tree is in it, with a slash
	module  bool         // it is a submodule, whose HEAD is in no snapshot
	moves   []headChange // of HEAD, oldest first
	heads   map[*Snapshot]ID
	commits []ID    // trees of those that HEAD was at, the latest first
	until   []int64 // the second in which it was at each last
	stashed []ID    // trees
}

// maxMoves is how many moves of HEAD are looked at.
const maxMoves = 200

func pastOf(repo *repository, o *objects) *past {
	p := &past{objects: o, heads: make(map[*Snapshot]ID)}
	if repo == nil {
		return p
	}
	var stashed []ID
	for _, entry := range readLog(filepath.Join(repo.common, "logs", "refs", "stash")) {
		stashed = append(stashed, entry.to)
		if c, err := o.commit(entry.to); err == nil {
			stashed = append(stashed, c.parents[min(1, len(c.parents)):]...) // of the index, and of untracked files
		}
	}
	p.stashed = o.treesOf(stashed)
	p.moves = readLog(repo.headLog())
	for _, c := range slices.Backward(p.moves[max(0, len(p.moves)-maxMoves):]) {
		for _, tree := range o.treesOf([]ID{c.from, c.to}) {
			if !slices.Contains(p.commits, tree) {
				p.commits, p.until = append(p.commits, tree), append(p.until, c.at)
			}
		}
	}
	return p
}

// pastOf returns what tells about a path, and the path there.
func (l *losses) pastOf(path string) (*past, string) {
	for dir := parent(path); dir != "" && len(l.pasts) > 1; dir = parent(dir) {
		if p := l.pasts[dir+"/"]; p != nil {
			return p, strings.TrimPrefix(path, dir+"/")
		}
	}
	return l.pasts[""], l.pasts[""].inRepo + path
}

// head returns what the commit that HEAD was at in a snapshot has at a path.
func (p *past) head(s *Snapshot, path string) State {
	tree, known := p.heads[s]
	if !known {
		commit := s.Head.Commit
		if p.module {
			commit = p.headThen(s.Time().Unix())
		}
		tree = p.objects.treeOf(commit)
		p.heads[s] = tree
	}
	at, _ := p.objects.at(tree, path)
	return at
}

// headThen returns where HEAD was at the end of a second.
func (p *past) headThen(second int64) (commit ID) {
	for i, c := range p.moves {
		switch {
		case c.at <= second:
			commit = c.to
		case i == 0:
			commit = c.from
		}
	}
	return commit
}

// since returns the trees of the commits that HEAD was at after a snapshot: what was work then is in them if it was
// committed. What is in older ones as well was put there by somebody since.
func (p *past) since(s *Snapshot) []ID {
	n, _ := slices.BinarySearchFunc(p.until, s.Time().Unix(), func(at, then int64) int { return -cmp.Compare(at, then-1) })
	return p.commits[:n]
}

// isIn reports whether one of the trees has a path as it was.
func (o *objects) isIn(trees []ID, path string, was State) bool {
	return slices.ContainsFunc(trees, func(tree ID) bool {
		s, err := o.at(tree, path)
		return err == nil && o.isStoredAs(was, s)
	})
}

package ledger

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A State is what stands at a path: nothing, a file with permissions, or a link. Of a tree
// object alone the permissions are not known.
type State struct {
	Mode uint32 `json:"mode,omitempty"`
	ID   ID     `json:"id"`
	Perm uint32 `json:"perm,omitempty"`
}

func (s State) exists() bool { return s.Mode != 0 }

// A Step is one path that differs, or is to be changed. Directories are no paths.
type Step struct {
	Path string `json:"path"`
	From State  `json:"from"`
	To   State  `json:"to"`
}

// diffTrees returns the paths in which two trees differ, sorted.
func (o *objects) diffTrees(from, to ID) (found []Step, err error) {
	err = o.diffInto(&found, "", from, to)
	sort.Slice(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found, err
}

func (o *objects) diffInto(found *[]Step, prefix string, from, to ID) error {
	if from == to {
		return nil
	}
	a, err := o.tree(from)
	if err != nil {
		return err
	}
	b, err := o.tree(to)
	if err != nil {
		return err
	}
	for len(a) > 0 || len(b) > 0 {
		var x, y entry
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		default:
			c = compareNames(a[0].name, a[0].mode == modeDir, b[0].name, b[0].mode == modeDir)
		}
		if c <= 0 {
			x, a = a[0], a[1:]
		}
		if c >= 0 {
			y, b = b[0], b[1:]
		}
		path := prefix + cmp.Or(x.name, y.name)
		switch {
		case x.mode == modeDir || y.mode == modeDir:
			err = o.diffInto(found, path+"/", x.id, y.id)
		case x != y:
			*found = append(*found, Step{path, State{Mode: x.mode, ID: x.id}, State{Mode: y.mode, ID: y.id}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// at returns what a path is in a tree. A directory has the state of its tree.
func (o *objects) at(tree ID, path string) (State, error) {
	for {
		name, rest, more := strings.Cut(path, "/")
		entries, err := o.tree(tree)
		if err != nil {
			return State{}, err
		}
		find := func(isDir bool) (int, bool) {
			return slices.BinarySearchFunc(entries, name, func(e entry, name string) int {
				return compareNames(e.name, e.mode == modeDir, name, isDir)
			})
		}
		i, ok := find(true)
		if !ok && !more {
			i, ok = find(false)
		}
		switch {
		case !ok:
			return State{}, nil
		case !more:
			return State{Mode: entries[i].mode, ID: entries[i].id}, nil
		}
		tree, path = entries[i].id, rest
	}
}

// step returns what a path is in two snapshots.
func (o *objects) step(from, to *Snapshot, path string) (Step, error) {
	a, err := o.at(from.Tree, path)
	b, err2 := o.at(to.Tree, path)
	return Step{path, from.state(path, a), to.state(path, b)}, cmp.Or(err, err2)
}

// overlay returns the tree with some paths as they are given. A path that is not there any more has the zero State.
func (o *objects) overlay(tree ID, paths map[string]State) (ID, error) {
	if len(paths) == 0 {
		return tree, nil
	}
	entries, err := o.tree(tree)
	if err != nil {
		return ID{}, err
	}
	byName := make(map[string]entry)
	for _, e := range entries {
		byName[e.name] = e
	}
	below := make(map[string]map[string]State) // by the first name of the path, then by its rest
	for path, s := range paths {
		name, rest, deeper := strings.Cut(path, "/")
		switch {
		case deeper && below[name] == nil:
			below[name] = map[string]State{rest: s}
		case deeper:
			below[name][rest] = s
		case s.exists():
			byName[name] = entry{name, s.Mode, s.ID}
		case byName[name].mode != modeDir:
			delete(byName, name)
		}
	}
	for name, paths := range below {
		e, found := byName[name]
		if found && e.mode != modeDir {
			if !slices.ContainsFunc(slices.Collect(maps.Values(paths)), State.exists) {
				continue // a file stands where the directory was
			}
			e.id = ID{}
		}
		if e.id, err = o.overlay(e.id, paths); err != nil {
			return ID{}, err
		}
		if byName[name] = (entry{name, modeDir, e.id}); e.id == emptyTree {
			delete(byName, name)
		}
	}
	return o.putTree(slices.Collect(maps.Values(byName)))
}

func (o *objects) putTree(entries []entry) (ID, error) {
	sort.Slice(entries, func(i, j int) bool {
		return compareNames(entries[i].name, entries[i].mode == modeDir, entries[j].name, entries[j].mode == modeDir) < 0
	})
	var b []byte
	for _, e := range entries {
		b = append(append(strconv.AppendUint(b, uint64(e.mode), 8), ' '), e.name...)
		b = append(append(b, 0), e.id[:]...)
	}
	return o.put(kindTree, b)
}

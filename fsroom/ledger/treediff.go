package ledger

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// A side is what a path is in a tree: the zero side if it is not there.
type side struct {
	mode uint32
	id   ID
}

func (s side) exists() bool { return s.mode != 0 }

// A difference is one path that two trees do not have alike. Directories are not paths.
type difference struct {
	path     string
	from, to side
}

// diffTrees returns the paths in which two trees differ, sorted.
func (o *objects) diffTrees(from, to ID) (found []difference, err error) {
	err = o.diffInto(&found, "", from, to)
	sort.Slice(found, func(i, j int) bool { return found[i].path < found[j].path })
	return found, err
}

func (o *objects) diffInto(found *[]difference, prefix string, from, to ID) error {
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
	byName := func(x, y entry) int { return strings.Compare(x.name, y.name) }
	sort.Slice(a, func(i, j int) bool { return byName(a[i], a[j]) < 0 })
	sort.Slice(b, func(i, j int) bool { return byName(b[i], b[j]) < 0 })
	for len(a) > 0 || len(b) > 0 {
		var x, y entry
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		default:
			c = cmp.Compare(a[0].name, b[0].name)
		}
		if c <= 0 {
			x, a = a[0], a[1:]
		}
		if c >= 0 {
			y, b = b[0], b[1:]
		}
		if err := o.diffEntry(found, prefix+cmp.Or(x.name, y.name), x, y); err != nil {
			return err
		}
	}
	return nil
}

func (o *objects) diffEntry(found *[]difference, path string, x, y entry) error {
	if x.mode == y.mode && x.id == y.id {
		return nil
	}
	var from, to ID
	d := difference{path: path}
	if x.mode == modeDir {
		from = x.id
	} else {
		d.from = side{x.mode, x.id}
	}
	if y.mode == modeDir {
		to = y.id
	} else {
		d.to = side{y.mode, y.id}
	}
	if d.from != d.to {
		*found = append(*found, d)
	}
	return o.diffInto(found, path+"/", from, to)
}

// at returns what a path is in a tree. A directory has the side of its tree.
func (o *objects) at(tree ID, path string) (side, error) {
	for {
		name, rest, more := strings.Cut(path, "/")
		entries, err := o.tree(tree)
		if err != nil {
			return side{}, err
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.name == name })
		switch {
		case i < 0, more && entries[i].mode != modeDir:
			return side{}, nil
		case !more:
			return side{entries[i].mode, entries[i].id}, nil
		}
		tree, path = entries[i].id, rest
	}
}

// overlay returns the tree with some paths as they are given. A path that is not there any
// more has the zero side.
func (o *objects) overlay(tree ID, paths map[string]side) (ID, error) {
	if len(paths) == 0 {
		return tree, nil
	}
	entries, err := o.tree(tree)
	if err != nil {
		return ID{}, err
	}
	below := make(map[string]map[string]side)
	here := make(map[string]side)
	for path, s := range paths {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			here[name] = s
			continue
		}
		if below[name] == nil {
			below[name] = make(map[string]side)
		}
		below[name][rest] = s
	}
	byName := make(map[string]entry)
	for _, e := range entries {
		byName[e.name] = e
	}
	for name, s := range here {
		if e, ok := byName[name]; s.exists() {
			byName[name] = entry{name, s.mode, s.id}
		} else if ok && e.mode != modeDir {
			delete(byName, name)
		}
	}
	for name, deeper := range below {
		var sub ID
		if e := byName[name]; e.mode == modeDir {
			sub = e.id
		} else if e.mode != 0 && !anyExists(deeper) {
			continue // a file stands where the directory was
		}
		id, err := o.overlay(sub, deeper)
		if err != nil {
			return ID{}, err
		}
		if id == emptyTree {
			delete(byName, name)
		} else {
			byName[name] = entry{name, modeDir, id}
		}
	}
	return o.putTree(byName)
}

func anyExists(paths map[string]side) bool {
	for _, s := range paths {
		if s.exists() {
			return true
		}
	}
	return false
}

func (o *objects) putTree(byName map[string]entry) (ID, error) {
	entries := make([]entry, 0, len(byName))
	for _, e := range byName {
		entries = append(entries, e)
	}
	sort.Slice(entries, func(i, j int) bool {
		return compareNames(entries[i].name, entries[i].mode == modeDir, entries[j].name, entries[j].mode == modeDir) < 0
	})
	var b []byte
	for _, e := range entries {
		b = appendEntry(b, e)
	}
	return o.put(kindTree, b)
}

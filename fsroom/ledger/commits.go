package ledger

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A commit is what matters here of a commit of the user's.
type commit struct {
	tree    ID
	parents []ID
	date    int64
}

func (o *objects) commit(id ID) (c commit, err error) {
	data, err := o.typed(id, kindCommit)
	if err != nil {
		return c, err
	}
	head, _, _ := bytes.Cut(data, []byte("\n\n"))
	for line := range strings.Lines(string(head)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree, err = ParseID(value)
		case "parent":
			var p ID
			p, err = ParseID(value)
			c.parents = append(c.parents, p)
		case "committer":
			if f := strings.Fields(value); len(f) > 1 {
				c.date, _ = strconv.ParseInt(f[len(f)-2], 10, 64)
			}
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// treeOf returns the tree of a commit, the zero ID if that is not known or the commit is zero.
func (o *objects) treeOf(commit ID) (tree ID) {
	if commit != (ID{}) {
		c, _ := o.commit(commit)
		tree = c.tree
	}
	return tree
}

// How HEAD has moved.
const (
	headForward   = "forward"
	headRewritten = "rewritten"
	headSwitched  = "switched"
)

// A HeadMove is how HEAD has moved between two snapshots.
type HeadMove struct {
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Branch  string `json:"branch,omitempty"`
	Commits int    `json:"commits"` // those of To that From has not
	Moved   string `json:"moved"`
}

// headMove compares two HEADs, nil if they are the same.
func (o *objects) headMove(from, to Head) *HeadMove {
	if from == to || to == (Head{}) {
		return nil
	}
	m := &HeadMove{From: from.Commit.String(), To: to.Commit.String(), Branch: to.Branch, Moved: headForward}
	var straight bool
	if to.Commit != (ID{}) {
		m.Commits, straight = o.countCommits(from.Commit, to.Commit)
	}
	switch {
	case from.Branch != to.Branch:
		m.Moved = headSwitched
	case !straight:
		m.Moved = headRewritten
	}
	return m
}

// maxCommits is how many commits are looked at.
const maxCommits = 3000

// A mark says from which side a commit was reached.
type mark byte

const (
	fromOld mark = 1 << iota
	fromNew
)

// countCommits returns how many commits lead to b and not to a, and whether a leads to b. The
// newest commits are looked at first, until all that are left lead to a.
func (o *objects) countCommits(a, b ID) (n int, straight bool) {
	marks := make(map[ID]mark)
	commits := make(map[ID]commit)
	var open []ID
	push := func(id ID, m mark) {
		if id == (ID{}) || marks[id]&m == m {
			return
		}
		known := marks[id] != 0
		marks[id] |= m
		if !known {
			c, err := o.commit(id)
			if err != nil {
				return // a shallow clone ends here
			}
			commits[id] = c
		}
		open = append(open, id)
	}
	push(a, fromOld)
	push(b, fromNew)
	for steps := 0; steps < maxCommits && slices.ContainsFunc(open, func(id ID) bool { return marks[id] == fromNew }); steps++ {
		newest := 0
		for i, id := range open {
			if commits[id].date > commits[open[newest]].date {
				newest = i
			}
		}
		id := open[newest]
		open = slices.Delete(open, newest, newest+1)
		for _, p := range commits[id].parents {
			push(p, marks[id])
		}
	}
	for _, m := range marks {
		if m == fromNew {
			n++
		}
	}
	return n, a == (ID{}) || marks[a] == fromOld|fromNew
}

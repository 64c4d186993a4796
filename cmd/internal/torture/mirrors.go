//go:build linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// judge compares what the hosts have in the end with each other, with what one has that was never
// there, and with what they said.
func (t *trial) judge() {
	r := t.report
	var h *history
	err := t.addHost(t.net.machines[0])
	if err == nil {
		eventually(recorded, func() bool { h, err = t.mirrors(); return err == nil })
	}
	if !r.check("the journals", err) {
		return
	}
	r.count("kills", t.killed)
	for _, was := range t.acks.said {
		r.count(string(was), 1)
	}
	r.count("turns", len(h.grants))
	r.count("taken over", len(h.overtook))
	r.count("told to go on", len(t.acks.leaves))
	t.overlaps(h)
	t.left()
	t.guardians(h)
	for _, h := range t.hosts {
		if o := h.run("doctor", "--agent", "z:9"); o.exit != 0 {
			r.wrong("host %d: %v", h.n+1, o)
		}
	}
}

// recorded is how long after a turn what it has changed may be recorded, which is an event, too.
const recorded = 2 * time.Minute

// mirrors returns what all hosts have.
func (t *trial) mirrors() (h *history, err error) {
	var first []byte
	for i, host := range t.hosts {
		events, journal, err := host.mirror()
		if err == nil && i == 0 {
			first = journal
			h, err = t.acks.check(events)
		}
		switch {
		case err != nil:
			return nil, err
		case h.left > 0:
			return nil, errors.New("somebody left, which nobody has asked for")
		case !bytes.Equal(first, journal):
			return nil, fmt.Errorf("hosts 1 and %d have different journals of %d and %d bytes", i+1, len(first), len(journal))
		}
	}
	return h, nil
}

// overlaps looks for agents that worked at the same time by their own record. Two may do so
// only if one has taken the turn over, after the lease of the other, which began no earlier
// than the command that was told of it.
func (t *trial) overlaps(h *history) {
	began := map[int64]time.Time{} // when the first command began that was told of a turn
	for _, g := range t.acks.grants {
		if at, ok := began[g.Turn]; !ok || g.told.began.Before(at) {
			began[g.Turn] = g.told.began
		}
	}
	slices.SortFunc(t.acks.works, func(a, b work) int { return a.begin.Compare(b.begin) })
	for i, a := range t.acks.works {
		for _, b := range t.acks.works[i+1:] {
			if !b.begin.Before(a.end) {
				break
			}
			earlier, later := a, b
			if earlier.Turn > later.Turn {
				earlier, later = later, earlier
			}
			switch {
			case a.agent == b.agent && a.host == b.host:
			case a.Turn == b.Turn:
				t.report.wrong("%s on host %d and %s on host %d both worked in turn %d", a.agent, a.host+1, b.agent, b.host+1, a.Turn)
			case !h.overtook[earlier.Turn+1]:
				t.report.wrong("%s worked in turn %d and %s in turn %d at the same time", earlier.agent, earlier.Turn, later.agent, later.Turn)
			}
		}
	}
	for _, g := range t.acks.grants {
		// Hosts know the engine's clock to within a round trip. The guard of edits closes a
		// quarter of the lease before its end, so clocks may differ by that.
		if lease := g.told.ended.Sub(began[g.Turn-1]); h.overtook[g.Turn] && lease < t.lease-t.lease/4 {
			t.report.wrong("%s took turn %d over %v after it was granted to %s, with leases of %v", g.agent, g.Turn-1, lease, h.grants[g.Turn-1].To, t.lease)
		}
	}
}

// left looks for agents that were told to go on after somebody else had been told that the
// turn is theirs. The guard of edits asks nobody, and has to trust the clocks; it lets pass also
// where nobody holds the stick any more, so it is wrong while another agent works.
func (t *trial) left() {
	taken := map[int64]grant{} // by the turn before
	for _, g := range t.acks.grants {
		if first, ok := taken[g.Turn-1]; !ok || g.told.ended.Before(first.told.ended) {
			taken[g.Turn-1] = g
		}
	}
	for _, l := range t.acks.leaves {
		if l.of == guardOfEdits {
			works := func(w work) bool {
				return w.Turn > l.Turn && w.agent != l.agent && w.told.ended.Before(l.asked) && l.answered.Before(w.end)
			}
			if n := slices.IndexFunc(t.acks.works, works); n >= 0 {
				t.report.wrong("%s let %s go on in turn %d while %s worked in turn %d", l.of, l.agent, l.Turn, t.acks.works[n].agent, t.acks.works[n].Turn)
			}
			continue
		}
		if by, ok := taken[l.Turn]; ok && by.told.ended.Before(l.asked) {
			t.report.wrong("%s let %s go on in turn %d, %v after %s was told to have the next one", l.of, l.agent, l.Turn, l.asked.Sub(by.told.ended), by.agent)
		}
	}
}

// guardians looks for those that have outlived their turn.
func (t *trial) guardians(h *history) {
	var left []string
	ended := eventually(stall, func() bool {
		left = nil
		for _, host := range t.hosts {
			for _, pid := range processesOf(host.data) {
				line := commandLine(pid)
				if strings.HasPrefix(line, "tt guard ") && !(h.owner != "" && strings.Contains(line, fmt.Sprintf("--turn %d ", h.last))) {
					left = append(left, line)
				}
			}
		}
		return len(left) == 0
	})
	if !ended {
		t.report.wrong("guardians have outlived their turns: %q", left)
	}
}

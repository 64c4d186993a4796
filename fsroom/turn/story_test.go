package turn_test

import (
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// What happens, for the model.

func (m *model) join(id string, observe bool) {
	if !m.open {
		*m = model{w: m.w, open: true, policy: m.w.policy, observe: map[string]bool{}, joined: map[string]time.Time{}, held: map[string]int{}}
	}
	m.observe[id] = observe && (m.observe[id] || !slices.Contains(m.members, id))
	if !slices.Contains(m.members, id) {
		m.members = append(m.members, id)
		m.joined[id] = m.w.wall
	}
}

// part removes a member and returns the answer.
func (m *model) part(id, how string) string {
	m.open = len(m.others(id)) > 0
	m.members = slices.DeleteFunc(m.members, func(other string) bool { return other == id })
	if m.owner == id {
		m.owner, m.waits, m.given = "", m.given, letter{}
	}
	if m.reserved == id {
		m.reserved = ""
	}
	if m.kept == id {
		m.kept = ""
	}
	if !m.open {
		return "room_ended 0"
	}
	return words(how, len(m.members))
}

// closing returns the refusal to close the room, "" if the agent may, and "stale" if it
// holds the turn and shows a lease that is not that of the turn.
func (m *model) closing(id string, human, goodLease bool) string {
	switch refused := m.refusal(id, "room_closed"); {
	case !m.open || !human && refused != "":
		return refused
	case human:
		return ""
	case m.owner == "" && m.reserved != "" && m.waits.direct && !m.passed(m.waits.at, m.policy.ClaimTTL):
		return "turn_mismatch"
	case m.owner == "":
		return ""
	case m.owner != id:
		return "turn_mismatch"
	case !goodLease:
		return "stale"
	}
	return ""
}

func (m *model) kickable(id string) bool {
	silence, p := m.silence(id), m.w.presence(id)
	if m.owner == id && !m.passed(m.since, m.lease) {
		return false
	}
	return !p.Waiting && (silence >= millis(m.policy.PresenceTTL) || p.Process == turn.Gone && silence > millis(m.policy.GoneGrace))
}

func (m *model) granted(id string) {
	if (m.waits != letter{}) {
		m.given = m.waits
	}
	m.grants++
	m.owner, m.reserved, m.kept, m.waits, m.since, m.lease, m.held[id] = id, "", "", letter{}, m.now(), m.policy.OwnerLeaseTTL, m.grants
}

// ready reports whether the member would take the turn at once.
func (m *model) ready(id string) bool {
	last, p := m.joined[id], m.w.presence(id)
	if p.Waited.After(last) {
		last = p.Waited
	}
	return p.Waiting || m.w.wall.Sub(last) < millis(m.policy.WaiterGrace)
}

func (m *model) released(to, kept string, direct bool) {
	m.waits = letter{m.owner, direct, m.now()}
	m.owner, m.reserved, m.kept, m.given = "", to, kept, letter{}
}

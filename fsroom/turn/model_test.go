package turn_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A model is the protocol once more, told as plainly as possible and without a
// look at the rules: who has the stick, whose it is next, and who may take it.
// It reads the clocks and the presence of its world, but keeps its own state.
type model struct {
	w       *world
	open    bool
	members []string // in the order of joining
	joined  map[string]time.Time
	held    map[string]int // the number of an agent's last grant in this life
	grants  int

	owner    string
	reserved string
	kept     string // for whom a handoff is kept for a moment
	waits    letter // the handoff that nobody took up yet
	given    letter // the one that the owner took up
	since    moment // when the lease began or was renewed
	policy   turn.Policy
}

// A letter is a handoff on its way.
type letter struct {
	from   string
	direct bool
	at     moment
}

type moment struct {
	wall time.Time
	boot int
	mono time.Duration
}

func (m *model) now() moment { return moment{m.w.wall, m.w.boots, m.w.mono} }

func (m *model) passed(since moment, ms int64) bool {
	age := m.w.wall.Sub(since.wall)
	if since.boot == m.w.boots {
		age = m.w.mono - since.mono
	}
	return max(age, 0) >= time.Duration(ms)*time.Millisecond
}

func (m *model) silence(id string) int64 {
	last := m.joined[id]
	if s := m.w.presence(id).Seen; s.After(last) {
		last = s
	}
	return max(0, m.w.wall.Sub(last).Milliseconds())
}

func (m *model) gone(id string) bool {
	p := m.w.presence(id)
	return p.Process == turn.Gone && !p.Waiting && (!p.Lingers || m.silence(id) > m.policy.GoneGrace)
}

func (m *model) active(id string) bool {
	working := id == m.owner && !m.passed(m.since, m.policy.OwnerLeaseTTL)
	return !m.gone(id) && (m.silence(id) < m.policy.PresenceTTL || m.w.presence(id).Waiting || working)
}

// others are the active members besides some.
func (m *model) others(besides ...string) []string {
	return slices.DeleteFunc(slices.Clone(m.members), func(id string) bool {
		return slices.Contains(besides, id) || !m.active(id)
	})
}

func (m *model) status() string {
	switch {
	case !m.open:
		return turn.StateClosed
	case m.owner != "" && m.gone(m.owner):
		return turn.StateOwnerGone
	case m.owner != "" && m.passed(m.since, m.policy.OwnerLeaseTTL):
		return turn.StateStaleOwner
	case m.owner != "":
		return turn.StateOwned
	case m.reserved != "" && m.gone(m.reserved):
		return turn.StateRecipientGone
	case m.reserved != "":
		return turn.StateReserved
	case len(m.others()) == 0:
		return turn.StateDormant
	}
	return turn.StateIdle
}

// refusal is what everybody who is not a member is told.
func (m *model) refusal(id, closed string) string {
	switch {
	case !m.open:
		return closed
	case !slices.Contains(m.members, id):
		return "not_joined"
	}
	return ""
}

// grantable reports whether the turn is the agent's if it asks for it.
func (m *model) grantable(id string, park bool) bool {
	if m.owner != "" || m.reserved != "" {
		return m.owner == "" && m.reserved == id
	}
	if park && m.kept != id {
		return false
	}
	switch {
	case m.waits == letter{}:
		return true
	case m.waits.from == id:
		return len(m.others(id)) == 0 || m.passed(m.waits.at, 6*m.policy.WaiterGrace)
	}
	return m.kept == "" || m.kept == id || m.passed(m.waits.at, m.policy.WaiterGrace)
}

func (m *model) reason() string {
	switch {
	case m.waits == letter{}:
		return "your_turn open_claim"
	case m.waits.direct:
		return "your_turn direct_pass"
	}
	return "your_turn sequence"
}

// opening is why somebody else than the owner or recipient may take over.
func (m *model) opening() string {
	switch status := m.status(); {
	case status == turn.StateStaleOwner:
		return "owner_timeout"
	case status == turn.StateOwnerGone, status == turn.StateRecipientGone:
		return status
	case status == turn.StateReserved && m.passed(m.waits.at, m.policy.ClaimTTL):
		return "claim_timeout"
	}
	return ""
}

// excluded: the author leaves an unclaimed handoff to the others, if there are any.
func (m *model) excluded(id string) bool {
	return m.owner == "" && m.waits.from == id && len(m.others(id, m.reserved)) > 0
}

func (m *model) try(id string, park bool) string {
	switch no, opening := m.refusal(id, "closed"), m.opening(); {
	case no != "":
		return no
	case m.owner == id:
		return "your_turn already_owner"
	case m.grantable(id, park):
		return m.reason()
	case opening != "" && !m.excluded(id):
		return "takeover_available " + opening
	}
	return "not_yet " + m.status()
}

func (m *model) take(id string, operator bool) string {
	switch no, opening := m.refusal(id, "room_closed"), m.opening(); {
	case no != "":
		return no
	case m.owner == id:
		return "your_turn already_owner"
	case m.grantable(id, false), operator && m.owner == "" && m.reserved == "":
		return m.reason()
	case opening != "" && !m.excluded(id):
		return "your_turn " + opening
	case operator:
		return "your_turn operator_override"
	case opening != "":
		return "takeover_ineligible"
	}
	return "takeover_not_available"
}

// fairest is who comes after the agent, "" if nobody else is active.
func (m *model) fairest(id string) string {
	place := func(other string) int {
		n := len(m.members)
		return (slices.Index(m.members, other) - slices.Index(m.members, id) + n) % n
	}
	all := m.others(id)
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(m.held[a]-m.held[b], place(a)-place(b))
	})
	return append(all, "")[0]
}

func (m *model) ready(id string) bool {
	last, p := m.joined[id], m.w.presence(id)
	if p.Waited.After(last) {
		last = p.Waited
	}
	return p.Waiting || m.w.wall.Sub(last) < time.Duration(m.policy.WaiterGrace)*time.Millisecond
}

// What has happened.

func (m *model) join(id string) {
	if !m.open {
		*m = model{w: m.w, open: true, policy: m.w.policy, joined: map[string]time.Time{}, held: map[string]int{}}
	}
	if !slices.Contains(m.members, id) {
		m.members = append(m.members, id)
		m.joined[id] = m.w.wall
	}
}

func (m *model) part(id string) {
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
}

func (m *model) granted(id string) {
	if (m.waits != letter{}) {
		m.given = m.waits
	}
	m.grants++
	m.owner, m.reserved, m.kept, m.waits, m.since, m.held[id] = id, "", "", letter{}, m.now(), m.grants
}

func (m *model) released(to, kept string, direct bool) {
	m.waits = letter{m.owner, direct, m.now()}
	m.owner, m.reserved, m.kept, m.given = "", to, kept, letter{}
}

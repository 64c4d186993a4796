package turn_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// A model is the protocol once more, as plain as possible and independent of the
// rules: who has the stick, who is next, and who may take it.
// It reads the clocks and the presence of its world, but keeps its own state.
type model struct {
	w       *world
	open    bool
	members []string // in the order of joining
	joined  map[string]time.Time
	observe map[string]bool
	held    map[string]int // the number of an agent's last grant in this life
	grants  int
	policy  turn.Policy

	owner, reserved, kept string // kept: for whom a handoff is kept for a moment
	since                 moment // when the lease began or was renewed
	lease                 int64  // how long it is good from then on, in milliseconds
	waits, given          letter // the handoff nobody took up yet, and the owner's
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

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (m *model) passed(since moment, ms int64) bool {
	age := m.w.wall.Sub(since.wall)
	if since.boot == m.w.boots {
		age = m.w.mono - since.mono
	}
	return max(age, 0) >= millis(ms)
}

func (m *model) silence(id string) time.Duration {
	last := m.joined[id]
	if s := m.w.presence(id).Seen; s.After(last) {
		last = s
	}
	return max(0, m.w.wall.Sub(last))
}

func (m *model) gone(id string) bool {
	p := m.w.presence(id)
	return p.Process == turn.Gone && !p.Waiting && (!p.OutlivesProcess || m.silence(id) > millis(m.policy.GoneGrace))
}

func (m *model) active(id string) bool {
	working := id == m.owner && !m.passed(m.since, m.lease)
	return !m.gone(id) && (m.silence(id) < millis(m.policy.PresenceTTL) || m.w.presence(id).Waiting || working)
}

// others are the active members besides some. An observer is one while it has the stick.
func (m *model) others(besides ...string) []string {
	return slices.DeleteFunc(slices.Clone(m.members), func(id string) bool {
		return slices.Contains(besides, id) || !m.active(id) || m.observe[id] && m.owner != id
	})
}

func (m *model) status() string {
	switch {
	case !m.open:
		return turn.StateClosed
	case m.owner != "" && m.gone(m.owner):
		return turn.StateOwnerGone
	case m.owner != "" && m.passed(m.since, m.lease):
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

// grantable reports whether the turn is the agent's if it asks for it.
func (m *model) grantable(id string, park bool) bool {
	switch {
	case m.owner != "" || m.reserved != "":
		return m.owner == "" && m.reserved == id
	case park && m.kept != id:
		return false
	case m.waits == letter{}:
		return true
	case m.waits.from == id:
		return len(m.others(id)) == 0 || m.passed(m.waits.at, 6*m.policy.WaiterGrace)
	}
	return m.kept == "" || m.kept == id || m.passed(m.waits.at, m.policy.WaiterGrace)
}

// opening returns why an agent other than the owner or recipient may take over. The
// author of an unclaimed handoff leaves it to the others, if there are any.
func (m *model) opening(id string) (kind string, allowed bool) {
	allowed = m.owner != "" || m.waits.from != id || len(m.others(id, m.reserved)) == 0
	switch status := m.status(); {
	case status == turn.StateStaleOwner:
		return "owner_timeout", allowed
	case status == turn.StateOwnerGone, status == turn.StateRecipientGone:
		return status, allowed
	case status == turn.StateReserved && m.passed(m.waits.at, m.policy.ClaimTTL):
		return "claim_timeout", allowed
	}
	return "", false
}

// refusal returns the code for an agent that is not a member.
func (m *model) refusal(id, closed string) string {
	if !m.open {
		return closed
	}
	if !slices.Contains(m.members, id) {
		return "not_joined"
	}
	return ""
}

// granting returns the answer if the turn is granted without a takeover, else "".
func (m *model) granting(id string, park, operator bool) string {
	switch free := operator && m.owner == "" && m.reserved == ""; {
	case m.owner == id:
		return "your_turn already_owner"
	case !free && !m.grantable(id, park):
		return ""
	case m.waits == letter{}:
		return "your_turn open_claim"
	case m.waits.direct:
		return "your_turn direct_pass"
	}
	return "your_turn sequence"
}

func (m *model) try(id string, park bool) string {
	if told := cmp.Or(m.refusal(id, "closed"), m.granting(id, park, false)); told != "" {
		return told
	}
	if kind, allowed := m.opening(id); allowed {
		return "takeover_available " + kind
	}
	return "not_yet " + m.status()
}

func (m *model) take(id string, operator bool) string {
	if told := cmp.Or(m.refusal(id, "room_closed"), m.granting(id, false, operator)); told != "" {
		return told
	}
	switch kind, allowed := m.opening(id); {
	case allowed:
		return "your_turn " + kind
	case operator:
		return "your_turn operator_override"
	case kind != "":
		return "takeover_ineligible"
	}
	return "takeover_not_available"
}

// fairest returns the agent that comes after id, "" if no other is active.
func (m *model) fairest(id string) string {
	place := func(other string) int {
		n := len(m.members)
		return (slices.Index(m.members, other) - slices.Index(m.members, id) + n) % n
	}
	all := m.others(id)
	ended := func(other string) int {
		if p := m.w.presence(other); p.Process == turn.Gone && !p.Waiting {
			return 1
		}
		return 0
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(ended(a)-ended(b), m.held[a]-m.held[b], place(a)-place(b))
	})
	return append(all, "")[0]
}

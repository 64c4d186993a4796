package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A Lease is the promise under which an owner has its turn: until TTL has passed since
// Renewed, nobody else is granted the turn. The grant makes it, and the owner's guardian
// renews it. It is judged by its own TTL: a policy that is changed counts from the next
// renewal on.
//
// What the grant says is in the journal. What came after it is in a record of the owner's,
// and with an engine in a note too, which has the same bytes.
type Lease struct {
	Fence
	TTL       time.Duration `json:"lease_ttl_ms,omitzero"`
	Guardian  ProcessID     `json:"guardian,omitzero"`        // the process that renews it; zero: none was started
	Renewed   Instant       `json:"renewed,omitzero"`         // when it was granted or last renewed
	GrantedTo int           `json:"granted_to_pid,omitempty"` // the pid of the process of the agent that was granted the turn; 0: not known
	Holder    ProcessID     `json:"holder,omitzero"`          // the process of the session that took the turn; zero: none is known
	ByHand    bool          `json:"by_hand,omitempty"`        // a command of the agent asked for the turn, not only a hook
	ModelTurn event.Time    `json:"model_turn,omitzero"`      // when the turn of the agent's model began in which the lease was renewed last for it
	Ended     Ending        `json:",inline"`                  // of the guardian; zero: it has not ended by itself
	Proof     Proof         `json:"proof,omitzero"`           // zero without an engine
}

// A ProcessID identifies a process among all that ever ran. It has the fields of the type
// Process of package identity, to which it converts.
type ProcessID struct {
	Host      string `json:"host_id,omitempty"`
	Boot      string `json:"boot_id,omitempty"`
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"`
	Namespace string `json:"pid_namespace,omitempty"`
}

// An Ending says why and when a guardian stopped renewing.
type Ending struct {
	Why string     `json:"guardian_ended,omitempty"`
	At  event.Time `json:"guardian_ended_at,omitzero"`
}

// A Proof is the word of an engine that a turn was the owner's: until it is too old, no
// other agent has the turn, so the owner need not ask again. It counts on the owner's host
// alone, and is judged by that host's clock alone.
type Proof struct {
	Boot   string        `json:"boot_id"`   // of the machine
	Uptime time.Duration `json:"uptime_ms"` // of the machine, also asleep, before the engine was asked
	At     event.Time    `json:"at"`        // on the wall clock of the machine, for people
}

// Fence returns the fencing token of the turn in progress, the zero Fence if there is none.
func (s *State) Fence() Fence {
	if s.Owner == "" {
		return Fence{}
	}
	return Fence{Agent: s.Owner, Turn: s.Turn, Lease: s.Grant.Lease}
}

// Renewed returns the lease of the turn in progress, of which known is what is known beyond its grant. A renewal counts
// as later than the grant whatever the clocks say: the machine may have been booted with another time in between.
func (s *State) Renewed(known Lease) Lease {
	if known.Fence != s.Fence() || known.Renewed.IsZero() {
		return Lease{Fence: s.Fence(), TTL: s.Grant.TTL, Renewed: s.Grant.At}
	}
	return known
}

func (f Facts) lease(s *State) Lease { return s.Renewed(f.Lease) }

// Expired reports whether the lease has run out.
func (l Lease) Expired(now Instant) bool { return now.Expired(l.Renewed, l.TTL) }

// Left returns how long the lease is good, zero once it has run out.
func (l Lease) Left(now Instant) time.Duration { return now.Left(l.Renewed, l.TTL) }

// End returns when the lease runs out, see [Instant.End].
func (l Lease) End(now Instant) event.Time { return now.End(l.Renewed, l.TTL) }

// Renew starts the lease again, under the present policy. The guardian is the process that renews
// it from now on; the zero ProcessID leaves the one that is recorded.
func (l *Lease) Renew(now Instant, p Policy, guardian ProcessID) {
	l.Renewed, l.TTL = now, ms(p.OwnerLeaseTTL)
	if guardian != (ProcessID{}) {
		l.Guardian, l.Ended = guardian, Ending{}
	}
}

// Told returns the lease with what its host has published of it through the engine. The owner's
// record may be older: if another guardian renews the lease by now, the end of the recorded one
// means nothing.
func (l Lease) Told(told Lease) Lease {
	if l.Fence == (Fence{}) {
		return told
	}
	if told.Guardian != l.Guardian {
		l.Ended = Ending{}
	}
	if told.Renewed.Since(l.Renewed) > 0 {
		l.Renewed, l.TTL, l.Guardian = told.Renewed, told.TTL, told.Guardian
	}
	return l
}

// Margin returns how much earlier than the other hosts an owner considers its lease expired. It
// covers the differences between the clocks of servers and hosts: 30 s, or a quarter of a
// lease that is shorter than two minutes.
func Margin(ttl time.Duration) time.Duration { return min(30*time.Second, ttl/4) }

// Proved reports whether the engine has confirmed the turn so recently that no other agent can
// have taken it over since. It is false after a reboot, and if the boot is not known.
func (l Lease) Proved(s *State, boot string, uptime time.Duration) bool {
	if l.Fence != s.Fence() || l.Proof.Boot == "" || l.Proof.Boot != boot {
		return false
	}
	passed := uptime - l.Proof.Uptime
	return passed >= 0 && passed < l.TTL-Margin(l.TTL)
}

// RenewalInterval returns the time between two renewals of a lease under the policy: the
// heartbeat interval, or a third of the lease, as it is now or will be, where that is shorter.
func (l Lease) RenewalInterval(p Policy) time.Duration {
	return max(minRenewal, min(p.RenewalInterval(), l.TTL/3))
}

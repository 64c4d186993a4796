package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A Policy holds the rules of one room that can be chosen: time limits, in milliseconds,
// and switches. It is set when the room is opened and changed only by a policy_changed
// event. [Limits] and [Switches] say what each field is for.
type Policy struct {
	OwnerLeaseTTL     int64  `json:"owner_lease_ttl_ms"`
	HeartbeatInterval int64  `json:"heartbeat_interval_ms"`
	ClaimTTL          int64  `json:"claim_ttl_ms"`
	PresenceTTL       int64  `json:"presence_ttl_ms"`
	WaiterGrace       int64  `json:"waiter_grace_ms"`
	WaitForTurn       int64  `json:"wait_for_turn_max_wait_ms"`
	WaitForEvents     int64  `json:"wait_for_events_max_wait_ms"`
	GoneGrace         int64  `json:"gone_grace_ms"`
	IdleRoomTTL       int64  `json:"idle_room_ttl_ms"` // 0: a room never ends by itself
	WakeGrace         int64  `json:"wake_grace_ms"`    // 0: who listens is treated as who does not
	IdleTTL           int64  `json:"idle_ttl_ms"`      // 0: never
	LimitTTL          int64  `json:"limit_ttl_ms"`     // 0: never
	ShellGuard        string `json:"shell_guard,omitempty"`
	Auto              string `json:"auto,omitempty"` // whether tt takes turns for sessions by itself
	Ledger            string `json:"ledger"`         // what is recorded of changes of the tree: [LedgerOn], [LedgerCounts], [LedgerOff]
	LedgerKeep        int64  `json:"ledger_keep_ms"`
	LedgerSize        int64  `json:"ledger_size"` // bytes, of all trees of the data directory
	LedgerWait        int64  `json:"ledger_wait_ms"`
	LedgerTick        int64  `json:"ledger_tick_ms"` // 0: the tree is not recorded by time
}

// DefaultPolicy returns the policy of a room for which nothing is configured.
func DefaultPolicy() Policy {
	p := Policy{LedgerSize: 1 << 30}
	for _, l := range Limits() {
		*l.Field(&p) = l.Default.Milliseconds()
	}
	for _, w := range Switches() {
		*w.Field(&p) = w.Values[0]
	}
	return p
}

// What a room records of changes of its tree.
const (
	LedgerOn     = "on"
	LedgerCounts = "counts" // events name no files
	LedgerOff    = "off"
)

// LedgerModes returns the modes in which a room records changes of its tree.
func LedgerModes() []string { return []string{LedgerOn, LedgerCounts, LedgerOff} }

// minRenewal is the shortest time between two renewals, whatever the policy says.
const minRenewal = 10 * time.Millisecond

// RenewalInterval returns the time between two renewals of a lease: the heartbeat
// interval, or a third of a lease that is shorter than three such intervals.
func (p Policy) RenewalInterval() time.Duration {
	return max(minRenewal, min(ms(p.HeartbeatInterval), ms(p.OwnerLeaseTTL)/3))
}

// Warning says which limit cannot be kept. It is "" if all can.
func (p Policy) Warning() string {
	if ms(p.OwnerLeaseTTL) < 10*minRenewal {
		return "owner-lease-ttl is too short for a guardian to renew the lease in time: a turn can be taken over at any moment"
	}
	return ""
}

// SetPolicy applies change to the room's policy and returns the result. It returns
// no events if nothing changes, and the error of change as it is.
func SetPolicy(s *State, agent string, change func(*Policy) error) ([]event.Event, Policy, error) {
	if !s.Open {
		return nil, Policy{}, closedRoom(s)
	}
	p := s.Policy
	if err := change(&p); err != nil {
		return nil, Policy{}, err
	}
	if p == s.Policy {
		return nil, p, nil
	}
	return []event.Event{{Type: PolicyChanged, Turn: s.Turn, From: agent, Payload: payload(&policyPayload{Policy: p})}}, p, nil
}

package turn

import (
	"time"

	"github.com/talking-stick/tt/fsroom/code"
)

// A Policy holds the time limits of one room, in milliseconds. It is fixed when
// the room is opened and changed only by a policy_changed event.
type Policy struct {
	OwnerLeaseTTL     int64
	HeartbeatInterval int64
	ClaimTTL          int64
	PresenceTTL       int64
	WaiterGrace       int64
	WaitForTurn       int64
	WaitForEvents     int64
	GoneGrace         int64
	IdleRoomTTL       int64 // 0: a room never ends by itself
}

// DefaultPolicy returns the limits of a room nobody has configured.
func DefaultPolicy() Policy {
	return Policy{
		OwnerLeaseTTL:     (45 * time.Minute).Milliseconds(),
		HeartbeatInterval: (5 * time.Minute).Milliseconds(),
		ClaimTTL:          (20 * time.Minute).Milliseconds(),
		PresenceTTL:       (4 * time.Hour).Milliseconds(),
		WaiterGrace:       (10 * time.Second).Milliseconds(),
		WaitForTurn:       (110 * time.Second).Milliseconds(),
		WaitForEvents:     (110 * time.Second).Milliseconds(),
		GoneGrace:         (10 * time.Minute).Milliseconds(),
		IdleRoomTTL:       (7 * 24 * time.Hour).Milliseconds(),
	}
}

// A Limit names one field of a policy on the command line and in the
// environment.
type Limit struct {
	Flag  string // "owner-lease-ttl"
	Env   string // "TALKING_STICK_OWNER_LEASE_TTL"; empty: not from the environment
	About string
	Field func(*Policy) *int64
	Zero  bool // zero is allowed
}

// Limits lists every field of a policy, in the order they are shown.
func Limits() []Limit {
	return []Limit{
		{"owner-lease-ttl", "TALKING_STICK_OWNER_LEASE_TTL", "how long a turn lives without a heartbeat", func(p *Policy) *int64 { return &p.OwnerLeaseTTL }, false},
		{"heartbeat-interval", "TALKING_STICK_HEARTBEAT_INTERVAL", "how often a guardian renews the lease", func(p *Policy) *int64 { return &p.HeartbeatInterval }, false},
		{"claim-ttl", "TALKING_STICK_CLAIM_TTL", "how long a reservation is kept before it can be taken over", func(p *Policy) *int64 { return &p.ClaimTTL }, false},
		{"presence-ttl", "TALKING_STICK_PRESENCE_TTL", "how long a silent member counts as active", func(p *Policy) *int64 { return &p.PresenceTTL }, false},
		{"waiter-grace", "TALKING_STICK_WAITER_GRACE", "how long the fairest member is waited for after a release", func(p *Policy) *int64 { return &p.WaiterGrace }, true},
		{"wait-for-turn-max-wait", "", "how long tt wait waits without --timeout", func(p *Policy) *int64 { return &p.WaitForTurn }, false},
		{"wait-for-events-max-wait", "", "how long tt events --wait waits without --timeout", func(p *Policy) *int64 { return &p.WaitForEvents }, false},
		{"gone-grace", "TALKING_STICK_GONE_GRACE", "how long an ended session may be silent before it counts as gone", func(p *Policy) *int64 { return &p.GoneGrace }, true},
		{"idle-room-ttl", "TALKING_STICK_IDLE_ROOM_TTL", "how long an unused room lives (0: for ever)", func(p *Policy) *int64 { return &p.IdleRoomTTL }, true},
	}
}

// maxLimit keeps sums and small multiples of limits far from overflow.
const maxLimit = 10 * 365 * 24 * time.Hour

// Set stores d in the field, or refuses a value that makes no sense.
func (l Limit) Set(p *Policy, d time.Duration) error {
	switch {
	case d < 0, d == 0 && !l.Zero:
		return code.New(code.Usage, "%s must be more than zero", l.Flag)
	case d > 0 && d < time.Millisecond:
		return code.New(code.Usage, "%s must be at least 1ms", l.Flag)
	case d > maxLimit:
		return code.New(code.Usage, "%s is too long", l.Flag)
	}
	*l.Field(p) = d.Milliseconds()
	return nil
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// minRenewal bounds how often a guardian renews, whatever the policy says.
const minRenewal = 10 * time.Millisecond

// RenewalInterval returns how often a guardian renews the lease: every heartbeat interval,
// or three times within a lease that is shorter than three of these.
func (p Policy) RenewalInterval() time.Duration {
	return max(minRenewal, min(ms(p.HeartbeatInterval), ms(p.OwnerLeaseTTL)/3))
}

// Warning says which limit cannot be kept, "" if all can.
func (p Policy) Warning() string {
	if ms(p.OwnerLeaseTTL) < 10*minRenewal {
		return "owner-lease-ttl is too short for a guardian to renew the lease in time: a turn can be taken over at any moment"
	}
	return ""
}

package turn

import (
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/code"
)

// A Limit is one field of a policy, with its names and its purpose. The names and
// the text stand here, and not in a command, so that one table serves the flags, the
// environment of new rooms, the documentation and the messages of refusals: a new
// limit is one row.
type Limit struct {
	Flag    string               // "owner-lease-ttl"
	Env     string               // "TALKING_STICK_OWNER_LEASE_TTL"; "": not set from the environment
	About   string               // what the limit is for
	Default time.Duration        // that of a room for which nothing is configured
	Field   func(*Policy) *int64 // in milliseconds
	Zero    bool                 // zero is allowed
}

// Limits returns one Limit for every field of a policy, in the order they are shown.
func Limits() []Limit {
	return []Limit{
		{"owner-lease-ttl", "TALKING_STICK_OWNER_LEASE_TTL", "how long a turn lives without a heartbeat", 45 * time.Minute, func(p *Policy) *int64 { return &p.OwnerLeaseTTL }, false},
		{"heartbeat-interval", "TALKING_STICK_HEARTBEAT_INTERVAL", "how often a guardian renews the lease", 5 * time.Minute, func(p *Policy) *int64 { return &p.HeartbeatInterval }, false},
		{"claim-ttl", "TALKING_STICK_CLAIM_TTL", "how long a reservation is kept before it can be taken over", 20 * time.Minute, func(p *Policy) *int64 { return &p.ClaimTTL }, false},
		{"presence-ttl", "TALKING_STICK_PRESENCE_TTL", "how long a silent member counts as active", 4 * time.Hour, func(p *Policy) *int64 { return &p.PresenceTTL }, false},
		{"waiter-grace", "TALKING_STICK_WAITER_GRACE", "how long the fairest member is waited for after a release", 10 * time.Second, func(p *Policy) *int64 { return &p.WaiterGrace }, true},
		{"wait-for-turn-max-wait", "", "how long tt wait waits without --timeout", 110 * time.Second, func(p *Policy) *int64 { return &p.WaitForTurn }, false},
		{"wait-for-events-max-wait", "", "how long tt events --wait waits without --timeout", 110 * time.Second, func(p *Policy) *int64 { return &p.WaitForEvents }, false},
		{"gone-grace", "TALKING_STICK_GONE_GRACE", "how long an ended session may be silent before it counts as gone", 10 * time.Minute, func(p *Policy) *int64 { return &p.GoneGrace }, true},
		{"idle-room-ttl", "TALKING_STICK_IDLE_ROOM_TTL", "how long an unused room lives (0: for ever)", 7 * 24 * time.Hour, func(p *Policy) *int64 { return &p.IdleRoomTTL }, true},
		{"wake-grace", "TALKING_STICK_WAKE_GRACE", "how long a member that listens is waited for after it was notified (0: not)", 45 * time.Second, func(p *Policy) *int64 { return &p.WakeGrace }, true},
		{"idle-ttl", "TALKING_STICK_IDLE_TTL", "how long a holder's model may be idle before its turn is offered (0: for ever)", 15 * time.Minute, func(p *Policy) *int64 { return &p.IdleTTL }, true},
		{"limit-ttl", "TALKING_STICK_LIMIT_TTL", "how long a holder's model may be limited before its turn is offered (0: for ever)", time.Minute, func(p *Policy) *int64 { return &p.LimitTTL }, true},
		{"ledger-keep", "TALKING_STICK_LEDGER_KEEP", "how long what turns changed is kept, see tt help restore", 30 * 24 * time.Hour, func(p *Policy) *int64 { return &p.LedgerKeep }, false},
		{"ledger-wait", "TALKING_STICK_LEDGER_WAIT", "how long a release waits for what the turn changed (0: not)", 250 * time.Millisecond, func(p *Policy) *int64 { return &p.LedgerWait }, true},
		{"ledger-tick", "TALKING_STICK_LEDGER_TICK", "how often the tree is recorded while a turn lasts (0: not)", time.Minute, func(p *Policy) *int64 { return &p.LedgerTick }, true},
	}
}

// InDays reports whether people give the limit in days: it is one or more by default.
func (l Limit) InDays() bool { return l.Default >= 24*time.Hour }

// maxLimit is the longest limit. Sums and small multiples of limits cannot overflow.
const maxLimit = 10 * 365 * 24 * time.Hour

// Set stores d in the field. It refuses a negative time, zero where it is not
// allowed, less than a millisecond, and more than ten years.
func (l Limit) Set(p *Policy, d time.Duration) error {
	switch {
	case d < 0, d == 0 && !l.Zero:
		return code.New(code.Usage, "%s must be more than zero", l.Flag)
	case d > 0 && d < time.Millisecond:
		return code.New(code.Usage, "%s must be at least 1ms", l.Flag)
	case d > maxLimit:
		return code.New(code.Usage, "%s must be at most %.0fh", l.Flag, maxLimit.Hours())
	}
	*l.Field(p) = d.Milliseconds()
	return nil
}

// A Switch is one field of a policy that is no time, as [Limit] describes the others.
type Switch struct {
	Flag   string   // "shell-guard"
	Env    string   // "TALKING_STICK_SHELL_GUARD"; "": not set from the environment
	About  string   // what the switch is for
	Values []string // the first one is that of a room in which nobody has chosen
	Field  func(*Policy) *string
	Person bool // only a person may change it
}

// Switches returns one Switch for every field of a policy that is no time.
func Switches() []Switch {
	return []Switch{
		{"shell-guard", "TALKING_STICK_SHELL_GUARD", "refuse commands of the shell that write to agents without the stick",
			[]string{"on", "off"}, func(p *Policy) *string { return &p.ShellGuard }, true},
		{"auto", "TALKING_STICK_AUTO", "sessions with hooks take the turn by their first write beside another one, and end it " +
			"when they stop", []string{"on", "off"}, func(p *Policy) *string { return &p.Auto }, true},
		{"ledger", "", "what is recorded of changes of the tree; with counts, events name no files", LedgerModes(),
			func(p *Policy) *string { return &p.Ledger }, false},
	}
}

// IsOff reports whether the value of a switch, as people write it, is off.
func IsOff(value string) bool { return meant(value) == "off" }

// meant is on or off for the ways in which people write that, else the value itself.
func meant(value string) string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "off", "no", "false", "0":
		return "off"
	case "on", "yes", "true", "1":
		return "on"
	}
	return value
}

// Set stores the value in the field. It refuses one that means none of Values.
func (w Switch) Set(p *Policy, value string) error {
	value = meant(value)
	if !slices.Contains(w.Values, value) {
		return code.New(code.Usage, "%s must be %s, not %q", w.Flag, strings.Join(w.Values, " or "), value)
	}
	*w.Field(p) = value
	return nil
}

// The limits of a new room that several hosts share, where they differ from those of others.
const sharedLease, sharedHeartbeat = 5 * time.Minute, 30 * time.Second

// NewPolicy returns the policy of a new room, as the environment changes the default. Where hosts share it, others learn that an
// owner is gone only from the end of its lease, which is therefore shorter.
func NewPolicy(lookup func(string) string, isShared bool, parse func(string) (time.Duration, error)) (Policy, error) {
	p := DefaultPolicy()
	if isShared {
		p.OwnerLeaseTTL, p.ClaimTTL, p.HeartbeatInterval = sharedLease.Milliseconds(), sharedLease.Milliseconds(), sharedHeartbeat.Milliseconds()
		p.Ledger = LedgerCounts
	}
	for _, l := range Limits() {
		text := ""
		if l.Env != "" {
			text = lookup(l.Env)
		}
		if text == "" {
			continue
		}
		d, err := parse(text)
		if err != nil {
			return p, code.New(code.Usage, "%s=%s %s", l.Env, text, err).WithHint("unset it or give a duration such as 45m")
		}
		if err := l.Set(&p, d); err != nil {
			return p, code.New(code.Usage, "%s=%s: %s", l.Env, text, code.MessageOf(err))
		}
	}
	for _, w := range Switches() {
		if text := lookup(w.Env); text != "" {
			if err := w.Set(&p, text); err != nil {
				return p, code.New(code.Usage, "%s=%s: %s", w.Env, text, code.MessageOf(err))
			}
		}
	}
	return p, nil
}

package turn

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/journal/event"
)

// A host that is cut off counts its lease as over before another host may take the turn
// over, whenever it was cut off, wherever its messages were held up, and however the
// clocks of the servers and of the hosts differ, as long as no clock of the engine, as a
// host knows it, is wrong by more than a second and all clocks run equally fast.
func TestAProofEndsBeforeATakeover(t *testing.T) {
	const wrong = time.Second
	rapid.Check(t, func(t *rapid.T) {
		duration := func(name string, least, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, name))
		}
		ttl := duration("lease", 16*time.Second, time.Hour)
		p := DefaultPolicy()
		p.OwnerLeaseTTL = ttl.Milliseconds()
		fence := Fence{Agent: "a:1", Turn: 7, Lease: "l"}
		s := &State{Open: true, Owner: fence.Agent, Turn: fence.Turn, Policy: p, Members: []Member{{AgentID: "a:1"}, {AgentID: "b:1"}}}
		s.Grant.Lease, s.Grant.TTL = fence.Lease, ttl

		// True time begins with the boot of the owner's host. The engine's clock is read
		// through a server and a host that may be wrong, each time in another way.
		const epoch = 1000 * time.Hour
		engineClock := func(name string, at time.Duration) Instant {
			shown := epoch + at + duration(name, -wrong, wrong)
			return Instant{Wall: event.NewTime(time.UnixMilli(shown.Milliseconds())), Boot: "engine:e", Mono: shown.Milliseconds()}
		}
		asked := duration("asked", 0, time.Hour)
		committed := asked + duration("on its way", 0, 10*time.Second)
		granted := engineClock("the owner's host", asked)
		s.Grant.At = granted
		own := Lease{Fence: fence, TTL: ttl, Proof: Proof{Boot: "boot", Uptime: asked.Truncate(time.Millisecond)}}
		told := Lease{}
		if rapid.Bool().Draw(t, "renewed by a note") {
			told = Lease{Fence: fence, TTL: ttl, Renewed: engineClock("the server", committed)}
		}
		if rapid.Bool().Draw(t, "the policy is changed") {
			s.Policy.OwnerLeaseTTL = duration("another lease", time.Second, time.Hour).Milliseconds()
		}

		// Some time later another host takes the turn over. It decides before that.
		now := committed + duration("later", 0, 2*ttl)
		f := Facts{Now: engineClock("the other host", now), Lease: told}
		_, _, err := Take(s, f, TakeRequest{TryRequest: TryRequest{Agent: "b:1", Lease: "m"}, Reason: "silence"})
		if err == nil && own.Proved(s, "boot", now) {
			t.Fatalf("taken over %v after the engine was asked, with a lease of %v; the owner goes on", now-asked, ttl)
		}
		if own.Proved(s, "another boot", now) {
			t.Fatal("a proof stands after a reboot")
		}
		// A lease that was renewed in time is not closed in between.
		if err != nil && now-asked < ttl/2 && !own.Proved(s, "boot", now) {
			t.Fatalf("closed %v after the engine was asked, with a lease of %v", now-asked, ttl)
		}
	})
}

// What a proof does not say of the turn in progress, it does not say.
func TestAProofOfAnotherTurn(t *testing.T) {
	p := DefaultPolicy()
	s := &State{Open: true, Owner: "a:1", Turn: 7, Policy: p}
	s.Grant.Lease = "l"
	good := Lease{Fence: Fence{Agent: "a:1", Turn: 7, Lease: "l"}, TTL: time.Minute, Proof: Proof{Boot: "b", Uptime: time.Hour}}
	tests := []struct {
		name   string
		change func(p *Lease, s *State)
		boot   string
		uptime time.Duration
		want   bool
	}{
		{"at once", nil, "b", time.Hour, true},
		{"the last moment", nil, "b", time.Hour + 45*time.Second - 1, true},
		{"a quarter before the end", nil, "b", time.Hour + 45*time.Second, false},
		{"a turn before", func(p *Lease, _ *State) { p.Turn = 6 }, "b", time.Hour, false},
		{"another lease", func(p *Lease, _ *State) { p.Lease = "k" }, "b", time.Hour, false},
		{"another agent", func(p *Lease, _ *State) { p.Agent = "b:1" }, "b", time.Hour, false},
		{"another boot", nil, "c", time.Hour, false},
		{"a boot that is not known", func(p *Lease, _ *State) { p.Proof.Boot = "" }, "", time.Hour, false},
		{"before it was made", nil, "b", time.Hour - 1, false},
		{"a policy that shortens the lease", func(_ *Lease, s *State) { s.Policy.OwnerLeaseTTL = 10_000 }, "b", time.Hour + 8*time.Second, true},
		{"a policy that lengthens the lease", nil, "b", time.Hour + 10*time.Minute, false},
		{"nothing", func(p *Lease, _ *State) { *p = Lease{} }, "b", time.Hour, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, s := good, s.Clone()
			if tt.change != nil {
				tt.change(&p, s)
			}
			if got := p.Proved(s, tt.boot, tt.uptime); got != tt.want {
				t.Errorf("stands: %v", got)
			}
		})
	}
}

func TestMargin(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		45 * time.Minute: 30 * time.Second, 5 * time.Minute: 30 * time.Second, 2 * time.Minute: 30 * time.Second,
		time.Minute: 15 * time.Second, 2 * time.Second: 500 * time.Millisecond, 0: 0,
	} {
		if got := Margin(ttl); got != want {
			t.Errorf("of %v: %v", ttl, got)
		}
	}
}

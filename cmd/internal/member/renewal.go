package member

import (
	"context"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A renewal is the note by which a guardian tells the other hosts that it renews the
// lease of a turn.
type renewal struct {
	Turn     int64
	Guardian identity.Process
}

// Fields implements [wire.Fields].
func (n *renewal) Fields(c *wire.Codec) {
	c.Int("turn_id", &n.Turn)
	c.Object("guardian", (*processFields)(&n.Guardian))
}

// noteMargin is how much longer than the lease a renewal is kept.
const noteMargin = time.Minute

// tellRenewal tells the other hosts that the lease is renewed. It is compared with what
// they did meanwhile: a takeover that came first is seen, and one that was decided
// without the renewal is decided again.
func (g *guardian) tellRenewal(ctx context.Context) error {
	if !g.IsShared() {
		return nil
	}
	note := renewal{Turn: g.turn, Guardian: g.self}
	snap, err := g.View()
	if err != nil {
		return err
	}
	return g.Renew(ctx, time.Duration(snap.State.Policy.OwnerLeaseTTL)*time.Millisecond+noteMargin, func(snap *snapshot) ([]byte, error) {
		if st := snap.State; st.Owner != g.Self.ID || st.Turn != g.turn {
			return nil, nil
		}
		return wire.Append(nil, &note), nil
	})
}

// engineBoot begins the boots of instants on the clock of an engine, whose monotonic clock
// is its wall clock. There is no other as long as the engine's time is not known.
const engineBoot = "engine:"

// toldRenewal returns when the host of the owner renewed the lease of the current turn
// last, on the clock of the engine.
func (r *Room) toldRenewal(st *turn.State) turn.Instant {
	b, at := r.Note()
	var note renewal
	if len(b) == 0 || wire.Decode(b, &note) != nil || note.Turn != st.Turn {
		return turn.Instant{}
	}
	told := turn.Instant{Wall: event.NewTime(at)}
	if boot := r.Now().Boot; strings.HasPrefix(boot, engineBoot) {
		told.Boot, told.Mono = boot, at.UnixMilli()
	}
	return told
}

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
	c.Object("guardian", &n.Guardian)
}

// noteMargin is how much longer than the lease a renewal is kept.
const noteMargin = time.Minute

// tellRenewal tells the other hosts that the guardian renews the lease of the agent's turn,
// and records the proof that they have left the turn to it. A turn that is not the
// agent's any more is left alone. Without an engine it does nothing.
//
// It is compared with what the others did meanwhile: a takeover that came first is seen,
// and one that was decided without the renewal is decided again.
func (r *Room) tellRenewal(ctx context.Context, turnID int64, guardian identity.Process) error {
	if !r.IsShared() {
		return nil
	}
	proof := proofBegun()
	note := renewal{Turn: turnID, Guardian: guardian}
	snap, err := r.View()
	if err != nil {
		return err
	}
	var renewed *turn.State
	err = r.Renew(ctx, time.Duration(snap.State.Policy.OwnerLeaseTTL)*time.Millisecond+noteMargin, func(snap *snapshot) ([]byte, error) {
		renewed = nil
		if st := snap.State; st.Owner != r.Self.ID || st.Turn != turnID {
			return nil, nil
		}
		renewed = snap.State
		return wire.Append(nil, &note), nil
	})
	if err == nil && renewed != nil {
		r.proved(proof, turn.Fence{Agent: renewed.Owner, Turn: renewed.Turn, Lease: renewed.Grant.Lease}, renewed.Policy)
	}
	return err
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

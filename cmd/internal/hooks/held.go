package hooks

import (
	"context"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
)

// Held implements [guard.Rooms]. Nobody takes a place or a turn there.
func (r *rooms) Held(ctx context.Context, call payload.Call, counts func(dir string) bool) (all []*guard.Stick) {
	if r.elsewhere == nil {
		r.elsewhere = newRooms(r.client, r.locate, r.lookup)
		r.elsewhere.callers, r.others = r.callers, member.Held(r.client.Store, time.Now())
	}
	for _, st := range r.others {
		dir := st.CanonicalPath
		if !counts(dir) {
			continue
		}
		if stick, err := r.elsewhere.Stick(ctx, dir, call); err == nil && stick != nil && stick.Root == dir {
			all = append(all, stick)
		}
	}
	return all
}

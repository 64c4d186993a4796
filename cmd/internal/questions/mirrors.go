package questions

import (
	"context"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
)

// Mirrors is [member.Client.Rooms], and brings the questions of the rooms up to date too. The
// client that it returns sees all of that without asking the engine again.
func Mirrors(ctx context.Context, c *member.Client) (names []string, offline *member.Client, err error) {
	if names, err = c.Rooms(); err == nil {
		_, err = fsroom.Refresh(ctx, c.Store, roomtypes.Topics())
	}
	return names, c.Offline(), err
}

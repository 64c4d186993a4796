// Package sharing lets engines share rooms of both types. Only programs that have engines
// link it, and what it needs.
package sharing

import (
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom/mirror"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Enable is called by a program before it opens a room.
func Enable() {
	roomtypes.Stick().Share = mirror.New[*turn.State]
	roomtypes.Topics().Share = mirror.New[*topic.State]
}

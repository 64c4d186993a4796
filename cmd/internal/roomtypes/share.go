package roomtypes

import (
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Share lets engines share rooms of both types. A program that has engines calls it
// before it opens a room. A program that does not call it does not link what it needs.
func Share() {
	stick.Share = fsroom.NewMirror[*turn.State]
	topics.Share = fsroom.NewMirror[*topic.State]
}

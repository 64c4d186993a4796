package event

import (
	"encoding/json"
	"fmt"
	"time"
)

// sample is an event of the usual size, about 300 bytes on its line.
func sample(seq int64) Event {
	return Event{
		Seq: seq, ID: fmt.Sprintf("evt_%016x", seq*0x9e3779b97f4a7c1), RoomID: "room_5f2b8c1d9e4a7036", Turn: seq / 3,
		Type: []string{"claim", "release", "message_sent"}[seq%3], From: "claude:1f2e3d4c", To: "codex:9a8b7c6d",
		Payload:   json.RawMessage(`{"body":"the parser is done, tests are next","delivery_hint":"normal"}`),
		CreatedAt: NewTime(time.UnixMilli(1767323045678 + seq%1e9)),
	}
}

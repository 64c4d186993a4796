package event

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/talking-stick/tt/journal/wire"
)

// Append appends e to b as one line with its newline. The line is JSON and UTF-8
// whatever e contains: bytes that are not UTF-8 become U+FFFD, and a Handoff or Payload
// loses the white space between its tokens, or is written as a string if it is not
// JSON. Nothing is escaped for HTML. The line reads back as e if Seq is positive, Type
// is set and CreatedAt lies in the years 0 to 9999.
func (e *Event) Append(b []byte) []byte {
	b = appendInt(append(b, '{'), `"event_seq":`, e.Seq)
	b = appendText(b, `,"event_id":`, e.ID)
	b = appendText(b, `,"room_id":`, e.RoomID)
	b = appendInt(b, `,"turn_id":`, e.Turn)
	b = appendText(b, `,"event_type":`, e.Type)
	b = appendOptional(b, `,"from_agent_id":`, e.From)
	b = appendOptional(b, `,"to_agent_id":`, e.To)
	b = appendRaw(b, `,"handoff":`, e.Handoff)
	b = appendOptional(b, `,"reason":`, e.Reason)
	b = appendRaw(b, `,"payload":`, e.Payload)
	b = e.CreatedAt.appendText(append(b, `,"created_at":"`...))
	b = append(b, '"')
	if e.More {
		b = append(b, `,"more":true`...)
	}
	return append(b, '}', '\n')
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

func appendText(b []byte, key, s string) []byte { return wire.AppendString(append(b, key...), s) }

func appendOptional(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(b, key, s)
}

func appendRaw(b []byte, key string, raw json.RawMessage) []byte {
	raw = bytes.Trim(raw, " \t\r\n")
	if len(raw) == 0 || string(raw) == "null" {
		return b
	}
	return wire.AppendRaw(append(b, key...), raw)
}

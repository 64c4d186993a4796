package turn

import "github.com/talking-stick/tt/journal/wire"

// What is part of a larger result has the same form for encoding/json.

func (v RoomView) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &v), nil }
func (v MemberView) MarshalJSON() ([]byte, error)    { return wire.Append(nil, &v), nil }
func (p Policy) MarshalJSON() ([]byte, error)        { return wire.Append(nil, &p), nil }
func (r WaitResult) MarshalJSON() ([]byte, error)    { return wire.Append(nil, &r), nil }
func (r ReleaseResult) MarshalJSON() ([]byte, error) { return wire.Append(nil, &r), nil }
func (s State) MarshalJSON() ([]byte, error)         { return wire.Append(nil, &s), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *State) UnmarshalJSON(b []byte) error { return wire.Decode(b, s) }

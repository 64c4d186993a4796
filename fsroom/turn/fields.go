package turn

import "github.com/talking-stick/tt/journal/wire"

// These are parts of results that encoding/json writes. Package wire writes them by their tags.

func (v RoomView) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &v), nil }
func (v MemberView) MarshalJSON() ([]byte, error)    { return wire.Append(nil, &v), nil }
func (t Trouble) MarshalJSON() ([]byte, error)       { return wire.Append(nil, &t), nil }
func (a Activity) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &a), nil }
func (h Handoff) MarshalJSON() ([]byte, error)       { return wire.Append(nil, &h), nil }
func (p Policy) MarshalJSON() ([]byte, error)        { return wire.Append(nil, &p), nil }
func (r WaitResult) MarshalJSON() ([]byte, error)    { return wire.Append(nil, &r), nil }
func (r ReleaseResult) MarshalJSON() ([]byte, error) { return wire.Append(nil, &r), nil }
func (v Standing) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &v), nil }
func (s State) MarshalJSON() ([]byte, error)         { return wire.Append(nil, &s), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *State) UnmarshalJSON(b []byte) error { return wire.Decode(b, s) }

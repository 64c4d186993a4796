package topic

import "github.com/talking-stick/tt/journal/wire"

// MarshalJSON returns the form that state.json has.
func (s State) MarshalJSON() ([]byte, error) { return wire.Append(nil, &s), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *State) UnmarshalJSON(b []byte) error { return wire.Decode(b, s) }

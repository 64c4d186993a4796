package turn

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/talk"
)

// named returns the member that a name means, nil if there is none: the member with
// that agent id, else the only active member other than except with that display
// name. It refuses a display name of several active members.
func (s *State) named(f Facts, name, except string) (*Member, error) {
	if m := s.Member(name); m != nil || name == "" {
		return m, nil
	}
	var found *Member
	var ids []string
	for i := range s.Members {
		if m := &s.Members[i]; m.DisplayName == name && m.AgentID != except && f.active(s, m) {
			found = m
			ids = append(ids, m.AgentID)
		}
	}
	if len(ids) > 1 {
		return nil, code.New(code.AmbiguousRecipient, "%s means more than one member: %s", name, strings.Join(ids, ", ")).
			WithHint("name one of them by its full id").With("candidates", ids)
	}
	return found, nil
}

// Named returns the id of the member that a name means, "" if there is none. works reports
// whether that member is active and no observer.
func Named(s *State, f Facts, name string) (id string, works bool, err error) {
	m, err := s.named(f, name, "")
	if err != nil || m == nil {
		return "", false, err
	}
	return m.AgentID, !m.Observer && f.active(s, m), nil
}

// WhoIs returns the agent id that a name means in a filter of events: that of a member with this id
// or display name, or the name itself if it is the id of a former holder or has the form of those
// of harnesses, which may be that of a former member.
func WhoIs(s *State, f Facts, self, name string) (string, error) {
	m, err := s.addressee(f, self, name)
	switch {
	case err == nil:
		return m.AgentID, nil
	case code.Of(err) == code.UnknownRecipient && (strings.Contains(name, ":") || memberOf(s.Former, name) != nil):
		return name, nil
	}
	return "", err
}

// whoIsThere returns the hint for a name that no member has: the active member with
// the most similar name, or all active members. ids are those of all others.
func (s *State) whoIsThere(f Facts, self, name string) (hint string, ids []string) {
	nearest, best := "", len(name)/3+2
	for i := range s.Members {
		m := &s.Members[i]
		if m.AgentID == self || !f.active(s, m) {
			continue
		}
		ids = append(ids, m.AgentID)
		for _, n := range []string{m.AgentID, m.DisplayName} {
			if d := code.Mistakes(n, name); n != "" && d < best {
				nearest, best = m.AgentID, d
			}
		}
	}
	switch {
	case slices.Contains([]string{"all", "any", "everybody", "everyone", "team"}, name):
		return `everybody is "` + Everyone + `"`, ids
	case name == talk.AnyPerson && !slices.ContainsFunc(ids, IsPerson), IsPerson(name):
		return `a person is no member until it joins or writes here: ask any person with "tt ask human …"`, ids
	case nearest != "":
		return "did you mean " + nearest + "?", ids
	case len(ids) == 0:
		return "nobody else is active in the room", ids
	}
	return "active members: " + strings.Join(ids, ", "), ids
}

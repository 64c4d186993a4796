package identity

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
)

const maxAgentID = 128

// ValidateAgentID returns nil if id can be an agent id: 1 to 128 printable
// characters (runes), no space of any kind, no / or \, and not one of the words
// room, self, any and next. Control, format and bidirectional characters are
// not printable. The error is a *code.Error with [code.InvalidAgentID].
func ValidateAgentID(id string) error {
	if fault := agentIDFault(id); fault != "" {
		return code.New(code.InvalidAgentID, "the agent id %q %s", shorten(id), fault).
			WithHint("use 1 to %d printable characters without spaces or slashes, for example human:alex", maxAgentID).
			With("agent_id", shorten(id))
	}
	return nil
}

func agentIDFault(id string) string {
	switch id {
	case "":
		return "is empty"
	case "room", "self", "any", "next":
		return "is a reserved word"
	}
	if !utf8.ValidString(id) {
		return "is not valid UTF-8"
	}
	if utf8.RuneCountInString(id) > maxAgentID {
		return "is longer than 128 characters"
	}
	for _, r := range id {
		switch {
		case unicode.IsSpace(r):
			return "contains a space"
		case r == '/' || r == '\\':
			return "contains a path separator"
		case !unicode.IsPrint(r):
			return "contains a character that cannot be printed"
		}
	}
	return ""
}

// shorten cuts an id to a length that fits into a message.
func shorten(id string) string {
	if len(id) <= 2*maxAgentID {
		return id
	}
	return strings.ToValidUTF8(id[:2*maxAgentID], "") + "…"
}

// humanID returns the id of a person, with the user's [userSlug].
func humanID(user string) string {
	longest := maxAgentID - len("human:") - len(hostSuffix)
	return "human:" + user[:min(len(user), longest)] + hostSuffix
}

// isHuman reports whether the id is that of a person.
func isHuman(id string) bool { return len(id) > len("human:") && strings.HasPrefix(id, "human:") }

// userSlug returns the [slug] of a user name for an id that starts with "human:".
// It is never empty, and no longer than such an id may be.
func userSlug(name string) string {
	const longest = maxAgentID - len("human:")
	s := cmp.Or(slug(name), "anon")
	return strings.TrimSuffix(s[:min(len(s), longest)], "-")
}

// slug returns the runs of ASCII letters and digits in s, in lower case and
// joined by '-'.
func slug(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		if r < 'a' || r > 'z' {
			if r < '0' || r > '9' {
				gap = b.Len() > 0
				continue
			}
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

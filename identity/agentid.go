package identity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
)

const maxAgentID = 128

// ValidateAgentID returns nil when id can name an agent: 1 to 128 printable
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
	return runesFault(id)
}

func runesFault(id string) string {
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

// shorten keeps an error about an endless id readable.
func shorten(id string) string {
	if len(id) <= 2*maxAgentID {
		return id
	}
	return strings.ToValidUTF8(id[:2*maxAgentID], "") + "…"
}

// sanitise makes a user name fit for an id behind "human:": lower case, runs of
// anything but letters and digits of ASCII as one '-', none at the ends, never
// empty, and no longer than an id may be.
func sanitise(name string) string {
	const longest = maxAgentID - len("human:")
	l := labelOr(name, "anon")
	return strings.TrimSuffix(l[:min(len(l), longest)], "-")
}

func labelOr(name, fallback string) string {
	if l := label(name); l != "" {
		return l
	}
	return fallback
}

// label lower-cases s and joins its runs of ASCII letters and digits by '-'.
func label(s string) string {
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

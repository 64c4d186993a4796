package identity

import (
	"cmp"
	"os"
	"os/user"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/talking-stick/tt/fsroom/code"
)

// The sources of an agent's identity, in the order in which they are tried.
const (
	SourceOverride    = "agent_override"      // --agent
	SourceExported    = "exported_agent_id"   // TT_HARNESS_AGENT_ID
	SourceEnvironment = "harness_environment" // a harness by its own variables
	SourceAncestry    = "harness_ancestry"    // a harness among the ancestors, with TT_HARNESS_EXPORT
	SourceHuman       = "human_default"       // the user
)

// The kinds of session.
const (
	HumanCLI   = "human_cli"
	HarnessCLI = "harness_cli"
)

// An Agent is a caller.
type Agent struct {
	ID              string    // passes [ValidateAgentID]
	DisplayName     string    // the harness, the user, or a part of a given id
	Source          string    // one of the Source constants
	Anchor          string    // what the id is derived from: "session:…", "process:PID@START", "terminal:VAR=…", "parent:PID@START", "user:U@H"; empty for a given id
	SessionKind     string    // HumanCLI or HarnessCLI
	Harness         string    // "claude", "codex", …; empty for a human
	Host            string    // the host name
	Root            *Process  // the harness's root process where one was found, alive when it was found; else nil
	RootStartedAt   time.Time // wall clock, approximate; zero without Root
	SessionExported bool      // the anchor is a session id, which outlives its process: gone needs silence too
	Detail          string    // one sentence: why this id
	Signals         []string  // what was seen, in order; values are as they were: print them with care
}

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

// Env is the input of [Resolve] besides the process table. [SystemEnv] returns that
// of this process; tests write their own.
type Env struct {
	Lookup func(name string) string // the environment; "" for an unset variable; nil has none
	User   string                   // the user's login name; when empty USER, LOGNAME and "user" stand in
	Home   string                   // the home directory; may be empty
	Host   string                   // the host name; may be empty
}

// SystemEnv returns the environment of this process. It reads the user database
// and the host name; a field that cannot be determined is left empty.
func SystemEnv() Env {
	env := Env{Lookup: os.Getenv}
	if u, err := user.Current(); err == nil {
		env.User = u.Username
	}
	env.Home, _ = os.UserHomeDir()
	env.Host = hostName()
	return env
}

// get returns a variable without the blanks around it, "" if it is blank or unset.
func (e Env) get(name string) string {
	if e.Lookup == nil || name == "" {
		return ""
	}
	return strings.TrimSpace(e.Lookup(name))
}

// user returns the login name as a slug, for use in an id.
func (e Env) user() string {
	for _, name := range []string{e.User, e.get("USER"), e.get("LOGNAME")} {
		if strings.TrimSpace(name) != "" {
			return userSlug(name)
		}
	}
	return "user"
}

// firstOf returns the first of the named variables that is not blank.
func (e Env) firstOf(names []string) (name, value string) {
	for _, n := range names {
		if v := e.get(n); v != "" {
			return n, v
		}
	}
	return "", ""
}

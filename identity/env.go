package identity

import (
	"os"
	"os/user"
	"strings"
)

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

// exportEnabled reports whether TT_HARNESS_EXPORT asks to look for a harness
// among the ancestors.
func (e Env) exportEnabled() bool {
	v := e.get("TT_HARNESS_EXPORT")
	return v == "1" || strings.EqualFold(v, "true")
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

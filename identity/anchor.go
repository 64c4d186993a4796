package identity

import (
	"slices"

	"github.com/talking-stick/tt/identity/harness"
)

// An anchor is what makes one session of a harness differ from another.
type anchor struct {
	text    string
	scope   string // what else the text is unique in; part of the digest only
	why     string // completes "the id hangs on …" in a message
	session bool   // the text is an exported session id
}

// A terminal is a variable with the id of a terminal's window. The ids of some
// terminals are numbers that start anew in every terminal process; then within is
// a variable that identifies the process.
type terminal struct{ variable, within string }

// terminals are in the order in which they are asked: a terminal emulator before
// the multiplexers that run inside it.
var terminals = [...]terminal{
	{"ITERM_SESSION_ID", ""},
	{"CMUX_TAB_ID", ""},
	{"KITTY_WINDOW_ID", "KITTY_PID"},
	{"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET"},
	{"TERMINATOR_UUID", ""},
	{"TMUX_PANE", "TMUX"},
	{"STY", ""},
}

// anchor returns the anchor of a session of h. It also looks for the root process,
// whatever the anchor is.
func (r *resolver) anchor(h *harness.Harness) anchor {
	session, id := r.env.firstOf(h.SessionVars)
	if session != "" {
		r.note(session, id, roleAnchor, "the exported session id")
	}
	root, found := r.root(h)
	switch {
	case session != "":
		return anchor{text: "session:" + id, why: session, session: true}
	case found:
		return processAnchor("process:", root, "its root process "+root.String())
	}
	if a, ok := r.terminalAnchor(); ok {
		return a
	}
	return r.callerAnchor()
}

// root returns the root process of the harness and stores it in the agent: the
// process that the harness itself names in a variable, else the one that
// searchRoot finds.
func (r *resolver) root(h *harness.Harness) (Info, bool) {
	root, found := r.namedProcess(h.PIDVar, 1)
	if !found {
		root, found = r.searchRoot(h)
	}
	if found {
		r.agent.Root, r.agent.RootStartedAt = &root.Process, root.StartedAt
	}
	return root, found
}

// searchRoot returns the furthest ancestor that is the harness h, seen from the
// process that the hint names or from the caller. If there is none, it returns
// the process that the hint names.
func (r *resolver) searchRoot(h *harness.Harness) (root Info, found bool) {
	hint, hinted := r.namedProcess(h.PIDHintVar, 2)
	if hinted {
		root, found = furthest(r.belowServer(append([]Info{hint}, ancestors(r.table, hint.PID)...), h), h)
	}
	if !found {
		root, found = furthest(r.belowServer(r.ancestors(), h), h)
	}
	if !found && hinted {
		root, found = hint, true
	}
	if found {
		r.note("ancestor process", root.Name+" "+root.String(), roleRoot, "")
	}
	return root, found
}

// belowServer returns the part of chain that belongs to the session: a process that
// serves many sessions of h, or starts them in the background, and what is above it, lives
// and ends without regard to any of them.
func (r *resolver) belowServer(chain []Info, h *harness.Harness) []Info {
	at := slices.IndexFunc(chain, func(p Info) bool {
		args, n := words(p.Args), len(h.DaemonArgs)
		if h.ServerArg != "" && slices.Contains(args, h.ServerArg) {
			return true
		}
		for i := range args { // those of the daemon stand one after the other
			if n > 0 && i+n <= len(args) && slices.Equal(args[i:i+n], h.DaemonArgs) {
				return harnessOf(p) == h
			}
		}
		return false
	})
	if at < 0 {
		return chain
	}
	r.note("ancestor process", chain[at].Name+" "+chain[at].String(), roleIgnored, "it serves many sessions")
	return chain[:at]
}

// namedProcess returns the living process whose pid, at least lowest, is in the
// variable.
func (r *resolver) namedProcess(variable string, lowest int) (Info, bool) {
	value := r.env.get(variable)
	if value == "" {
		return Info{}, false
	}
	p, found := byPID(r.table, value)
	if !found || p.PID < lowest {
		r.note(variable, value, roleIgnored, "no such process")
		return Info{}, false
	}
	r.note(variable, value, roleRoot, "")
	return p, true
}

func (r *resolver) terminalAnchor() (anchor, bool) {
	for _, t := range terminals {
		id := r.env.get(t.variable)
		if id == "" {
			continue
		}
		r.note(t.variable, id, roleAnchor, "the terminal")
		a := anchor{text: "terminal:" + t.variable + "=" + id, why: "the terminal's " + t.variable}
		if t.within != "" {
			a.scope = r.env.get(t.within)
		}
		return a, true
	}
	return anchor{}, false
}

// callerAnchor is the last resort: the process that called, or the user where no
// process can be inspected.
func (r *resolver) callerAnchor() anchor {
	if p, ok := caller(r.ancestors()); ok {
		r.note("parent process", p.Name+" "+p.String(), roleAnchor, "")
		return processAnchor("parent:", p, "the calling process "+p.String())
	}
	user := r.env.user() + "@" + r.env.Host
	r.note("user", user, roleAnchor, "no process could be inspected")
	return anchor{text: "user:" + user, why: "the user"}
}

// processAnchor returns an anchor for p whose scope is p's boot and namespace:
// machines that boot alike start the same program with the same pid and start.
func processAnchor(kind string, p Info, why string) anchor {
	return anchor{text: kind + p.String(), scope: p.Boot + "/" + p.Namespace, why: why}
}

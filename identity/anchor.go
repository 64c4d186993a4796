package identity

// An anchor is what makes one session of a harness differ from another.
type anchor struct {
	text    string
	scope   string // what else the text is unique in; part of the digest only
	why     string // for people, completes "the id hangs on …"
	session bool   // the text is an exported session id
}

// A terminal is a variable by which terminals number their windows, and another
// that tells which terminal program counts, where the numbers start anew.
type terminal struct{ variable, within string }

// terminals in the order in which they are asked: a terminal emulator before
// what runs inside it.
var terminals = [...]terminal{
	{"ITERM_SESSION_ID", ""},
	{"CMUX_TAB_ID", ""},
	{"KITTY_WINDOW_ID", "KITTY_PID"},
	{"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET"},
	{"TERMINATOR_UUID", ""},
	{"TMUX_PANE", "TMUX"},
	{"STY", ""},
}

// anchor finds the anchor of a session of h and, whatever the anchor is, the
// root process.
func (r *resolver) anchor(h harness) anchor {
	session, id := r.env.firstOf(h.sessions)
	if session != "" {
		r.note(session, id, RoleAnchor, "the exported session id")
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

// root finds the harness's root process and remembers it in the agent: the
// furthest ancestor that is this harness, else the process that the harness
// itself named.
func (r *resolver) root(h harness) (Info, bool) {
	chain := r.ancestors()
	hint := r.env.get(h.pidHint)
	hintChain := r.hintedChain(hint)
	root, found := furthest(hintChain, h.name)
	if !found {
		root, found = furthest(chain, h.name)
	}
	if !found && len(hintChain) > 0 {
		root, found = hintChain[0], true
	}
	r.noteHint(h, hint, hintChain)
	if found {
		r.agent.Root, r.agent.RootStartedAt = &root.Process, root.StartedAt
		r.note("ancestor process", root.Name+" "+root.String(), RoleRoot, "")
	}
	return root, found
}

func (r *resolver) hintedChain(hint string) []Info {
	if hint == "" {
		return nil
	}
	return hinted(r.table, hint, r.table.Self())
}

func (r *resolver) terminalAnchor() (anchor, bool) {
	for _, t := range terminals {
		id := r.env.get(t.variable)
		if id == "" {
			continue
		}
		r.note(t.variable, id, RoleAnchor, "the terminal")
		a := anchor{text: "terminal:" + t.variable + "=" + id, why: "the terminal's " + t.variable}
		if t.within != "" {
			a.scope = r.env.get(t.within)
		}
		return a, true
	}
	return anchor{}, false
}

// callerAnchor is the last resort: the process that called, and where not even
// that can be seen, the user.
func (r *resolver) callerAnchor() anchor {
	if p, ok := caller(r.ancestors()); ok {
		r.note("parent process", p.Name+" "+p.String(), RoleAnchor, "")
		return processAnchor("parent:", p, "the calling process "+p.String())
	}
	user := r.env.user() + "@" + r.env.Host
	r.note("user", user, RoleAnchor, "no process could be inspected")
	return anchor{text: "user:" + user, why: "the user"}
}

// processAnchor scopes pid and start by the boot and namespace they count in:
// machines that boot alike start the same program at the same pid and tick.
func processAnchor(kind string, p Info, why string) anchor {
	return anchor{text: kind + p.String(), scope: p.Boot + "/" + p.Namespace, why: why}
}

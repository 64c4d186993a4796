package harness

import "strings"

// HookCommand returns the shell command that a harness runs for a hook. Whatever tt does,
// it prints nothing on standard error and exits with status 0, except that a hook
// that may wake the agent prints there and exits with status 2 to do so. The texts
// never change again, because users of Codex approve them by their digest.
func HookCommand(id ID, kind Kind) string {
	const here = "command -v tt >/dev/null 2>&1 && "
	run := "tt hook " + string(kind) + " --harness " + string(id)
	h := Get(id)
	switch {
	case h.Wakes(kind):
		// A tt that does not know the kind would exit with status 2, too.
		return here + "tt hook " + string(kind) + " --help >/dev/null 2>&1 && exec " + run + "; exit 0"
	case !h.Answer.SilenceRefuses:
		return here + run + " 2>/dev/null || true"
	}
	return "tt_says=$(" + here + run + " 2>/dev/null) || tt_says=; " +
		`[ -n "$tt_says" ] || tt_says='` + h.Silence(kind) + `'; printf '%s\n' "$tt_says"`
}

// Wakes reports whether a hook of the kind may exit with status 2.
func (h *Harness) Wakes(kind Kind) bool {
	for _, e := range h.Hooks.Events {
		if e.Kind == kind {
			return e.Wakes
		}
	}
	return false
}

// Silence is what a harness to which silence is a refusal is told instead: to permit where
// a decision is asked for. Elsewhere a permission is never given: it would skip the
// dialog of Claude Code, and is an error to Codex.
func (h *Harness) Silence(kind Kind) string {
	if h.Hooks.Has(kind) {
		return "{}" // no decision is asked for
	}
	return `{"decision":"allow"}`
}

// IsHookCommand reports whether a command in a settings file is one that [HookCommand]
// returns for the kind.
func IsHookCommand(command string, kind Kind) bool {
	return strings.Contains(command, "tt hook "+string(kind)+" --harness ")
}

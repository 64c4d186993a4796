package skills

import (
	"bytes"
	"cmp"
	_ "embed"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/rewrite"
)

// guardSeconds is how long a harness waits for the answer of a hook, which takes
// a few milliseconds, before it goes on without one.
const guardSeconds = 10

// holdSeconds is how long a harness lets a hook hold the end of a turn. The hook itself
// gives up a little earlier.
const holdSeconds = 31 * 60

// guardsName is the name of the component: the guards, and the hooks that notify the
// agent.
const guardsName = "hooks"

// hookMark is in every command of a hook.
const hookMark = "tt hook "

//go:embed plugin.js
var openCodePlugin string

// guards returns the hooks of a harness, nil if it has none. With hold the end of a turn is
// held, where a harness has no better way to be notified.
func (e Environment) guards(id harness.ID, hold bool) component {
	hooks := harness.Get(id).Hooks
	file := e.inRoot(id, hooks.File)
	former := harness.Get(id).ConfigDir.Former
	switch {
	case former != "" && e.Root(id) == below(e.Home, former):
		return nil // the first editions have no hooks
	case hooks.Shape == harness.Plugin:
		return wholeFile{guardsName, file, openCodePlugin}
	}
	entries := hookEntries(id, hooks.Hold && (hold || e.Holds(id)))
	switch hooks.Shape {
	case harness.OwnFile:
		return wholeFile{guardsName, file, ownHooks(entries)}
	case harness.Named:
		entries = []entry{{path: []string{Name}, value: byEvent(entries)}}
	}
	s := sharedFile{name: guardsName, path: file, mark: hookMark, without: "install without hooks: --no-hooks"}
	for _, x := range entries {
		s.parts = append(s.parts, x)
	}
	if hooks.Shape == harness.Flat {
		s.begin = "{\n  \"version\": 1\n}\n"
	}
	return s
}

// Holds reports whether the hook that holds the end of a turn is installed: it stays
// when the others are brought up to date.
func (e Environment) Holds(id harness.ID) bool {
	settings, _ := read(e.inRoot(id, harness.Get(id).Hooks.File))
	return bytes.Contains(settings, []byte("tt hook "+string(harness.KindListen)+" --harness "+string(id)))
}

// hookEntries returns the hooks of a harness as the elements that its settings list
// below "hooks" and the event.
func hookEntries(id harness.ID, hold bool) []entry {
	h := harness.Get(id).Hooks
	entries := []entry{hookEntry(id, harness.HookEvent{Kind: harness.KindStop, Event: h.StopEvent})}
	if hold { // the hook that holds is the stop guard, too: both would have to be waited for
		entries[0] = hookEntry(id, harness.HookEvent{Kind: harness.KindListen, Event: h.StopEvent, Seconds: holdSeconds})
	}
	if h.Hold {
		entries[0].also = []harness.Kind{harness.KindStop, harness.KindListen}
	}
	entries = append(entries, hookEntry(id, harness.HookEvent{Kind: harness.KindEdit, Event: h.EditEvent, Matcher: h.WriteTools}))
	for _, e := range h.Events {
		entries = append(entries, hookEntry(id, e))
	}
	for i, e := range entries {
		entries[i].value = e.group
		if h.Shape == harness.Flat {
			alone := e.group.Hooks[0]
			alone.Type, alone.Matcher = "", e.group.Matcher
			entries[i].value = alone
		}
	}
	return entries
}

func hookEntry(id harness.ID, e harness.HookEvent) entry {
	run := handler{Type: "command", Command: harness.HookCommand(id, e.Kind), Timeout: cmp.Or(e.Seconds, guardSeconds), AsyncRewake: e.Wakes}
	if harness.Get(id).Hooks.Millis {
		run.Name, run.Timeout = Name+"-"+string(e.Kind), run.Timeout*1000
	}
	return entry{path: []string{"hooks", e.Event}, kind: e.Kind, group: group{e.Matcher, []handler{run}}}
}

// byEvent returns the hooks of a harness that keeps them below our name: groups for the
// tools that match, and elsewhere handlers alone.
func byEvent(entries []entry) map[string]any {
	events := map[string]any{}
	for _, e := range entries {
		event := e.path[len(e.path)-1]
		if e.group.Matcher != "" {
			events[event] = []group{e.group}
		} else {
			events[event] = e.group.Hooks
		}
	}
	return events
}

// ownHooks returns a file of hooks that has nothing but ours.
func ownHooks(entries []entry) string {
	events := map[string][]group{}
	for _, e := range entries {
		event := e.path[len(e.path)-1]
		events[event] = append(events[event], e.group)
	}
	return indented(map[string]any{"hooks": events})
}

// notes returns what users should know once the guards are installed.
func (e Environment) notes(id harness.ID) []string {
	var notes []string
	if note := harness.Get(id).Note; note != "" {
		notes = append(notes, note)
	}
	hooks := harness.Get(id).Hooks
	if config, _ := read(e.inRoot(id, hooks.Trust)); hooks.Sandbox != "" && !bytes.Contains(config, []byte(e.DataDir)) {
		notes = append(notes, "if its sandbox keeps tt from writing, add "+e.DataDir+" to "+hooks.Sandbox)
	}
	if e.guards(id, false) == nil {
		notes = append(notes, "this edition of Antigravity has no hooks, so there are none")
	}
	if _, err := e.LookPath("tt"); err != nil {
		notes = append(notes, "tt is not on the PATH, and until it is the hooks do nothing")
	}
	return notes
}

// A HookHealth says whether the hooks of a harness can run.
type HookHealth struct {
	Harness   harness.ID `json:"harness"`
	File      string     `json:"file"`
	Wanted    int        `json:"wanted"`
	Installed int        `json:"installed"` // of Wanted, as this version writes them
	Approved  *bool      `json:"approved,omitempty"`
	Hint      string     `json:"hint,omitempty"` // what to do, "" if nothing
}

// Runs reports whether the hooks that are installed in a harness, as this or another version
// writes them, include those of the kinds, apart from kinds for which the harness has no event.
func (e Environment) Runs(id harness.ID, kinds ...harness.Kind) bool {
	h := harness.Get(id).Hooks
	text, err := rewrite.Read(e.inRoot(id, h.File))
	return err == nil && !slices.ContainsFunc(kinds, func(k harness.Kind) bool {
		if h.Shape == harness.Plugin {
			return !bytes.Contains(text, []byte(`"`+string(k)+`"`))
		}
		return h.Has(k) && !bytes.Contains(text, []byte("tt hook "+string(k)+" "))
	})
}

// HookHealth looks at the hooks of the harnesses that have a directory. It changes
// nothing. What cannot be read counts as not installed.
func (e Environment) HookHealth() (all []HookHealth) {
	for _, id := range e.here() {
		h := HookHealth{Harness: id}
		switch c := e.guards(id, false).(type) {
		case wholeFile:
			h.File, h.Wanted = c.path, 1
			if text, _ := read(c.path); string(text) == c.text {
				h.Installed = 1
			}
		case sharedFile:
			file, _ := read(c.path)
			h.File, h.Wanted, h.Hint = c.path, len(c.parts), keptFrom(file)
			for _, x := range c.parts {
				if f, err := x.find(file); err == nil && f.exact {
					h.Installed++
				}
			}
		default:
			continue
		}
		e.advise(&h)
		all = append(all, h)
	}
	return all
}

func (e Environment) advise(h *HookHealth) {
	again := "run: tt install " + string(h.Harness) + "; then restart its sessions"
	switch trust := harness.Get(h.Harness).Hooks.Trust; {
	case h.Installed == 0:
		h.Hint = "its agents are not notified. To change that, " + again
	case h.Hint != "":
		h.Hint += ", so that its agents are refused nothing and told nothing. To change that, take it out"
	case h.Installed < h.Wanted:
		h.Hint = "only " + strconv.Itoa(h.Installed) + " of " + strconv.Itoa(h.Wanted) +
			" hooks are there as this version writes them. If you have not changed them, " + again
		if !e.Runs(h.Harness, harness.KindAsks, harness.KindFails) {
			h.Hint += ". Until then nobody hears that its agents ask their user or have failed"
		}
	case trust != "":
		approved := e.approved(h.Harness) >= h.Wanted
		if h.Approved = &approved; !approved {
			h.Hint = "they are not approved: " + harness.Get(h.Harness).Note
		}
	}
}

// approved returns how many of our hooks in a harness its user has approved, as far as the harness keeps that.
func (e Environment) approved(id harness.ID) int {
	hooks := harness.Get(id).Hooks
	if hooks.Trust == "" {
		return 0
	}
	config, _ := read(e.inRoot(id, hooks.Trust))
	return bytes.Count(config, []byte(`[hooks.state."`+e.inRoot(id, hooks.File)+":"))
}

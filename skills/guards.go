package skills

import (
	"bytes"
	_ "embed"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/block"
	"github.com/talking-stick/tt/skills/hook"
)

// guardSeconds is how long a harness waits for the answer of a guard, which takes
// a few milliseconds, before it goes on without one.
const guardSeconds = 10

// guardsName is the name of the component: the stop guard and the edit guard.
const guardsName = "guards"

//go:embed plugin.js
var openCodePlugin string

// guards returns the components that make up the guards of a harness.
func (e Environment) guards(id harness.ID) []component {
	hooks := harness.Get(id).Hooks
	file := e.inRoot(id, hooks.File)
	switch {
	case e.root(id) == e.formerRoot(id):
		return nil // the first editions have no hooks
	case hooks.Shape == harness.Plugin:
		return []component{wholeFile{guardsName, file, openCodePlugin}}
	case hooks.Shape == harness.OwnFile:
		return []component{wholeFile{guardsName, file, ownHooks(id)}}
	case hooks.Shape == harness.Named:
		return []component{settingsFile{file, []entry{{path: []string{Name}, value: map[string]any{
			hooks.EditEvent: []group{editGroup(id)},
			hooks.StopEvent: []handler{guard(id, hook.Stop)},
		}}}}}
	}
	var guards []component
	if hooks.FormerFile != "" {
		guards = append(guards, formerGuards{e.inRoot(id, hooks.FormerFile)})
	}
	return append(guards, settingsFile{file, []entry{
		{[]string{"hooks", hooks.StopEvent}, hook.Stop, stopGroup(id)},
		{[]string{"hooks", hooks.EditEvent}, hook.Edit, editGroup(id)},
	}})
}

// guard returns the handler that runs a guard.
func guard(id harness.ID, kind hook.Kind) handler {
	h := handler{Type: "command", Command: hook.Command(id, kind), Timeout: guardSeconds}
	if harness.Get(id).Hooks.Millis {
		h.Name, h.Timeout = Name+"-"+string(kind), guardSeconds*1000
	}
	return h
}

func stopGroup(id harness.ID) group { return group{Hooks: []handler{guard(id, hook.Stop)}} }

func editGroup(id harness.ID) group {
	return group{Matcher: harness.Get(id).Hooks.WriteTools, Hooks: []handler{guard(id, hook.Edit)}}
}

// ownHooks returns a file of hooks that has the edit guard and nothing else.
func ownHooks(id harness.ID) string {
	return indented(map[string]any{"hooks": map[string]any{harness.Get(id).Hooks.EditEvent: []group{editGroup(id)}}})
}

// notes returns what users should know once the guards are installed.
func (e Environment) notes(id harness.ID) []string {
	var notes []string
	if note := harness.Get(id).Note; note != "" {
		notes = append(notes, note)
	}
	if config, _ := read(e.inRoot(id, "config.toml")); id == harness.Codex && !bytes.Contains(config, []byte(e.DataDir)) {
		notes = append(notes, "if its sandbox keeps tt from writing, add "+e.DataDir+" to writable_roots under [sandbox_workspace_write] in config.toml")
	}
	if len(e.guards(id)) == 0 {
		notes = append(notes, "this edition of Antigravity has no hooks, so there are no guards")
	}
	if _, err := e.LookPath("tt"); err != nil {
		notes = append(notes, "tt is not on the PATH, and until it is the guards let everything pass")
	}
	return notes
}

// formerGuards are the guards that an earlier version has written into another
// file, in a marked block. They are only removed.
type formerGuards struct{ path string }

func (b formerGuards) install(p *planner) outcome {
	o := b.uninstall(p)
	if o.status == Removed {
		p.opts.sync = false // what is removed here is added there
		o.status, o.why = Updated, "the guards are in hooks.json now"
	}
	return o
}

func (b formerGuards) uninstall(p *planner) outcome {
	o := outcome{component: "old guards", status: AlreadyAbsent}
	before, err := p.read(b.path)
	if err != nil {
		return failed(o.component, b.path, err)
	}
	after, had := block.Remove(before)
	switch {
	case had:
		o.status, o.path = Removed, b.path
		p.change(fileChange{action: Unmerge, path: b.path, before: before, after: after, backup: true})
	case bytes.Contains(before, []byte("tt hook ")):
		o.status, o.path, o.why = Skipped, b.path, "its guards of an earlier version have lost their markers; remove them by hand"
	}
	return o
}

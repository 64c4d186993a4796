package skills

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"github.com/talking-stick/tt/identity/harness"
)

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
	text, err := os.ReadFile(e.inRoot(id, h.File))
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
		for _, c := range e.guards(id, false) {
			var h HookHealth
			switch c := c.(type) {
			case wholeFile:
				h = HookHealth{Harness: id, File: c.path, Wanted: 1}
				if text, _ := read(c.path); string(text) == c.text {
					h.Installed = 1
				}
			case sharedFile:
				file, _ := read(c.path)
				h = HookHealth{Harness: id, File: c.path, Wanted: len(c.parts), Hint: keptFrom(file)}
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

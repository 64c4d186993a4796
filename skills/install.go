package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
)

// Options are how to install or uninstall.
type Options struct {
	Harnesses []harness.ID
	DryRun    bool // plan only: nothing is written and no program is run
	Replace   bool // overwrite or remove what the user has edited; a backup is kept
	NoHooks   bool // without the hooks
	NoBus     bool // without the registration of agent-bus
	Hold      bool // let a hook hold the end of a turn, where an agent can be notified in no other way

	sync   bool // bring up to date what is installed, add nothing
	remove bool // uninstall
}

// Select returns the harnesses that a command line selects: those in names, each
// once, or if all is set, those on the machine (to install) or every one (to
// uninstall). It is a usage error to give neither names nor all, or both.
func (e Environment) Select(names []string, all, uninstall bool) ([]harness.ID, error) {
	switch {
	case all && len(names) > 0:
		return nil, code.New(code.Usage, "--all and names of harnesses exclude each other")
	case all && uninstall:
		return harness.IDs(), nil
	case all:
		return e.Detected(), nil
	case len(names) == 0:
		return nil, code.New(code.Usage, "no harness is named").
			WithHint("name one or more of %s, or give --all", strings.Join(harness.Names(), ", "))
	}
	var ids []harness.ID
	for _, name := range names {
		id, err := harness.Parse(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Install installs the skill and the guards into the harnesses of opts, registers
// agent-bus, and removes the MCP registrations of older versions. It returns a result for each harness, in
// their order. An error means that nothing was changed, unless there are results.
func (e Environment) Install(ctx context.Context, opts Options) ([]Result, error) {
	return e.change(ctx, opts, "install", e.installOne)
}

// Uninstall removes the skill, the guards and the registration from the harnesses of opts. Rooms and
// everything else in the data directory stay.
func (e Environment) Uninstall(ctx context.Context, opts Options) ([]Result, error) {
	opts.remove = true
	return e.change(ctx, opts, "uninstall", e.uninstallOne)
}

func (e Environment) change(ctx context.Context, opts Options, reason string, one func(*planner, harness.ID) Result) ([]Result, error) {
	if !opts.DryRun {
		unlock, err := e.lock(ctx, lockPatience)
		if err != nil {
			return nil, e.lockError(err)
		}
		defer unlock()
	}
	rec, err := e.loadRecord()
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, id := range opts.Harnesses {
		p := e.planner(opts, rec, id)
		old, steps := p.cleanUp(reason, id) // first, because both may change the same file
		r := e.carryOut(p, one(p, id))
		r.addOld(old, steps)
		results = append(results, r)
	}
	if opts.DryRun {
		showOnce(results)
		return results, nil
	}
	if err := e.save(rec); err != nil {
		return results, code.New(code.DataDirUnusable, "cannot record what was installed in %s", e.recordPath()).Because(err)
	}
	return results, nil
}

func (e Environment) lockError(err error) error {
	var busy *lockfile.BusyError
	if errors.As(err, &busy) {
		return code.New(code.LockTimeout, "another tt is installing").WithHint("try again in a moment").Because(err)
	}
	return code.New(code.DataDirUnusable, "cannot use the data directory %s: %v", e.DataDir, err).
		WithHint("set TALKING_STICK_DATA_DIR to a directory that you can write").Because(err)
}

// components returns what opts ask to install into a harness, or to remove from it.
func (e Environment) components(id harness.ID, opts Options) []component {
	all := []component{skillComponent{filepath.Join(e.inRoot(id, harness.SkillDir), Name)}}
	if hooks := e.guards(id, opts.Hold); hooks != nil && !opts.NoHooks {
		all = append(all, hooks)
	}
	if !opts.NoBus {
		all = append(all, e.server(id))
	}
	return all
}

// installOne plans everything for one harness.
func (e Environment) installOne(p *planner, id harness.ID) Result {
	switch e.presence(id) {
	case missing:
		return Result{Harness: id, Status: Skipped, Message: "not on this machine: no " + harness.Get(id).Program +
			" on the PATH and no " + e.shown(e.Root(id))}
	case notStarted:
		return Result{Harness: id, Status: Skipped, Message: e.shown(e.Root(id)) + " does not exist yet; start " +
			harness.Get(id).Program + " once, or make that directory, and install again"}
	}
	var outcomes []outcome
	for _, c := range e.components(id, p.opts) {
		outcomes = append(outcomes, c.install(p))
	}
	p.recorded.Version, p.recorded.Fingerprint = e.Version, fingerprint()
	r := e.sum(id, outcomes)
	if !p.opts.NoHooks && (r.Status == Added || r.Status == Updated || r.Status == AlreadyPresent) {
		r.Message = strings.Join(append([]string{r.Message}, e.notes(id)...), "; ")
	}
	return r
}

// uninstallOne plans to remove everything from one harness.
func (e Environment) uninstallOne(p *planner, id harness.ID) Result {
	components := e.components(id, p.opts)
	outcomes := make([]outcome, len(components))
	for i, c := range slices.Backward(components) { // two of them may be in one file
		outcomes[i] = c.uninstall(p)
	}
	r := e.sum(id, outcomes)
	if trust := harness.Get(id).Hooks.Trust; r.Status == Removed && e.approved(id) > 0 {
		r.Message += "; that the hooks were approved stays in " + e.shown(e.inRoot(id, trust)) + ", which its program has written: it does nothing"
	}
	return r
}

// showOnce replaces a text that an earlier step writes, too, by the path of that step.
func showOnce(results []Result) {
	shown := map[string]string{}
	for _, r := range results {
		for i := range r.Steps {
			s := &r.Steps[i]
			if at := shown[s.Text]; s.Action == Write && at != "" {
				s.Text, s.SameAs = "", at
			} else if s.Action == Write {
				shown[s.Text] = s.Path
			}
		}
	}
}

// carryOut carries out the plan of p, unless it is a dry run.
func (e Environment) carryOut(p *planner, r Result) Result {
	r.Steps = p.steps
	if p.opts.DryRun {
		return r
	}
	err := p.announce()
	if err == nil {
		err = apply(p.steps)
	}
	if err != nil {
		r.Status, r.Message = Failed, err.Error()
	}
	p.removeDirs()
	return r
}

// announce records what an installation is about to do: if it is killed half-way,
// the next command still knows its files and their original content. A removal is
// recorded after it was done.
func (p *planner) announce() error {
	if p.opts.remove || len(p.steps) == 0 {
		return nil
	}
	for _, s := range p.steps {
		if s.record != nil {
			s.record()
		}
	}
	return p.env.save(p.rec)
}

// indented returns v as JSON on several lines.
func indented(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(v) // structures of strings and numbers always have an encoding
	return out.String()
}

// A Status is what was done for one harness, or would be done.
type Status string

// The statuses. Skipped means that something was deliberately left alone; the
// message says what and why.
const (
	Added          Status = "added"
	AlreadyPresent Status = "already-present"
	Updated        Status = "updated"
	Removed        Status = "removed"
	AlreadyAbsent  Status = "already-absent"
	Skipped        Status = "skipped"
	Failed         Status = "failed"
)

// weights orders statuses: the result of a harness is the heaviest of the outcomes
// of its components.
var weights = []Status{AlreadyAbsent, AlreadyPresent, Updated, Removed, Added, Skipped, Failed}

// A Result is what was done for one harness, or would be done.
type Result struct {
	Harness harness.ID `json:"harness"`
	Status  Status     `json:"status"`
	Message string     `json:"message"`
	Paths   []string   `json:"paths,omitempty"` // the files that are or were ours
	Steps   []Step     `json:"steps,omitempty"` // what was done, or is to be done in a dry run
}

// An outcome is the result of one component.
type outcome struct {
	component string // its name; "" if nothing is to be reported
	status    Status
	path      string
	why       string // of Skipped and Failed
}

// sum returns the result of the outcomes of a harness's components.
func (e Environment) sum(id harness.ID, outcomes []outcome) Result {
	r := Result{Harness: id}
	var sentences []string
	for _, o := range outcomes {
		if o.component == "" {
			continue
		}
		if slices.Index(weights, o.status) > slices.Index(weights, r.Status) {
			r.Status = o.status
		}
		if o.path != "" && !slices.Contains(r.Paths, o.path) {
			r.Paths = append(r.Paths, o.path)
		}
		if o.status != AlreadyAbsent {
			text := o.component + " " + strings.ReplaceAll(string(o.status), "-", " ")
			if o.path != "" {
				text += " (" + e.shown(o.path) + ")"
			}
			if o.why != "" {
				text += ": " + o.why
			}
			sentences = append(sentences, text)
		}
	}
	r.Message = strings.Join(sentences, "; ")
	if r.Status == AlreadyAbsent {
		r.Message = "nothing is installed"
	}
	return r
}

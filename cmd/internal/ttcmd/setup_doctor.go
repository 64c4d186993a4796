package ttcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hearing"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/cmd/internal/setup"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/skills"
)

var doctorCommand = &cli.Command{
	Name: "doctor",
	Args: []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		session.Flag(f)
		f.Bool("prune-ledger", "remove what is recorded of this tree")
		f.Bool("all", "with --prune-ledger: of every tree")
		f.Bool("repair", "mend what can be mended, and keep every damaged byte beside the result")
		f.Bool("open", "with --repair and an engine whose store was copied back: let it take changes again, after every host has repaired")
		f.Bool("strict", "with an engine: fail if it may lose acknowledged changes in a power cut")
	},
	Run:    runDoctor,
	Traits: cli.Traits{LeaveModes: true}, // which it reports, and other commands put right
}

// A doctorResult lists the problems.
type doctorResult struct {
	Checked    int              `json:"checked"` // the sum of the three
	Rooms      int              `json:"rooms"`
	EndedRooms int              `json:"ended_rooms"`
	Topics     int              `json:"topics"`
	DataDir    string           `json:"data_dir"`
	Problems   []doctor.Problem `json:"problems"`
	// Notes are leftovers of crashes that the next change removes by itself, and what stays
	// at an engine and does no harm.
	Notes []doctor.Problem `json:"notes,omitempty"`
	// Trouble is what is wrong with the holders of turns. No file is damaged by it.
	Trouble []roomTrouble `json:"trouble,omitempty"`
	// MissingPaths are rooms whose directory was renamed or removed.
	MissingPaths []missingPath `json:"missing_paths,omitempty"`
	// Hooks are those of the harnesses on this machine.
	Hooks []skills.HookHealth `json:"hooks,omitempty"`
	// Listening is how the caller hears of news, if it is an agent of a harness.
	Listening string `json:"listening,omitempty"`
	// Shared is what shares the rooms with other hosts, if something does.
	Shared *hosts.Health `json:"engine,omitempty"`
	// Trees are what is recorded of work trees.
	Trees []treeHealth `json:"trees,omitempty"`
	// Hints are for what a program cannot find out.
	Hints []string `json:"hints,omitempty"`
}

// A missingPath is a room whose directory is gone.
type missingPath struct {
	RoomID        string `json:"room_id"`
	CanonicalPath string `json:"canonical_path"`
	PathMissing   bool   `json:"path_missing"` // true
}

// A roomTrouble is what is wrong with the holder of the turn of one room.
type roomTrouble struct {
	RoomID        string         `json:"room_id"`
	CanonicalPath string         `json:"canonical_path"`
	Trouble       []turn.Trouble `json:"trouble"`
}

// stick are the rules of the talking stick.
var stick = roomtypes.Stick()

func runDoctor(ctx context.Context, c *cli.Invocation) error {
	if c.Bool("open") && !c.Bool("repair") {
		return code.New(code.Usage, "--open needs --repair").WithHint("run tt doctor --repair on every host first, and then once " +
			"tt doctor --repair --open")
	}
	client, err := newClient(c)
	if err != nil {
		return err
	}
	if c.Bool("prune-ledger") {
		return pruneLedger(ctx, c, client)
	}
	if c.Bool("all") {
		return c.Usagef("--all is for --prune-ledger")
	}
	x := doctorRun{store: client.Store, repair: c.Bool("repair"), open: c.Bool("open")}
	x.DataDir = client.Store.Dir()
	if client.Store.IsShared() {
		if x.store, err = fsroom.Open(client.Store.Dir(), fsroom.Options{LeaveModes: true, Host: client.Store.Options().Host}); err != nil {
			return err
		}
	}
	if err := x.run(ctx, c, client); err != nil {
		return err
	}
	harmless := func(p doctor.Problem) bool { return p.Harmless && !p.Repaired }
	for _, p := range x.Problems {
		if harmless(p) {
			x.Notes = append(x.Notes, p)
		}
	}
	x.Problems = slices.DeleteFunc(x.Problems, harmless)
	remains := slices.ContainsFunc(x.Problems, func(p doctor.Problem) bool { return !p.Repaired })
	if !c.Bool("repair") {
		c.Out.Reads()
	}
	_ = c.Out.Result(x.doctorResult, func(t *cli.Text) { writeDoctor(t, x.doctorResult) }) // whether it was read, problems remain
	if err := x.Shared.Unsafe(); err != nil && c.Bool("strict") {
		return err
	}
	if !remains {
		return nil
	}
	return cli.Exit(1)
}

// A doctorRun checks the data directory, or the rooms of one workspace.
type doctorRun struct {
	doctorResult
	store  *fsroom.Store
	repair bool
	open   bool
}

func (x *doctorRun) run(ctx context.Context, c *cli.Invocation, client *member.Client) error {
	x.Problems = append([]doctor.Problem{}, doctor.CheckDir(x.store, x.repair)...)
	x.Problems = append(x.Problems, doctor.CheckFolder(client.Store.Local(), locks.Folder, locks.Belongs, x.repair)...)
	x.Problems = append(x.Problems, doctor.CheckFolder(client.Store.Local(), jobs.Folder, jobs.Belongs, x.repair)...)
	x.Problems = append(x.Problems, doctor.CheckFolder(x.store, fsroom.ListenersFolder, hearing.BelongsToListener, x.repair)...)
	for _, l := range ledger.Stores(changes.Folder(client.Store), ledger.Options{Home: c.Env.Home, Boot: identity.BootID()}) {
		x.Trees = append(x.Trees, healthOf(l))
		for _, p := range l.Check(ctx, x.repair) {
			x.Problems = append(x.Problems, doctor.Problem{File: p.Path, Problem: p.Message, Repaired: p.Repaired,
				Code: p.Code, Harmless: p.Harmless, Repair: "removes what is damaged, keeps the rest"})
		}
	}
	if c.HasArg("path") || c.Given("path") {
		w, err := locateArg(c)
		if err != nil {
			return err
		}
		names := member.RoomNames(w)
		x.checkShared(ctx, c, client.Store, names)
		checkRooms(ctx, x, stick, names)
		x.checkHolders(client.Offline(), names)
		return nil
	}
	x.checkShared(ctx, c, client.Store, nil)
	if err := checkAllRooms(ctx, x, stick); err != nil {
		return err
	}
	x.checkHooks(c, client)
	if names, err := client.Offline().Rooms(); err == nil { // what cannot be read is among the problems
		x.checkHolders(client.Offline(), names)
	}
	for _, st := range client.MissingPaths() {
		x.MissingPaths = append(x.MissingPaths, missingPath{st.RoomID, st.CanonicalPath, true})
	}
	return checkAllRooms(ctx, x, roomtypes.Topics())
}

// checkHooks looks whether agents can be notified.
func (x *doctorRun) checkHooks(c *cli.Invocation, client *member.Client) {
	x.Hooks = setup.HookHealth(c)
	if self := client.Self; self.Harness != "" {
		x.Listening = cmp.Or(client.Hearing().Listens(), "none")
		own := harness.Find(self.Harness)
		hasHooks := func(h skills.HookHealth) bool { return own != nil && h.Harness == own.ID && h.Installed > 0 }
		if slices.ContainsFunc(x.Hooks, hasHooks) && client.Hearing().Listener().Session == "" {
			x.Hints = append(x.Hints, "no hook of this session has run: restart "+self.Harness+" if it is older than its hooks")
		}
	}
	// One process of such a harness runs the sessions of many terminals.
	servesMany := func(h skills.HookHealth) bool { return h.Installed > 0 && harness.Get(h.Harness).ServerArg != "" }
	if i, dir := slices.IndexFunc(x.Hooks, servesMany), c.Env.Lookup("TALKING_STICK_DATA_DIR"); dir != "" && i >= 0 {
		h := harness.Get(x.Hooks[i].Harness)
		x.Hints = append(x.Hints, "the background server of "+h.Program+" has the variables of the terminal that started it: "+
			"TALKING_STICK_DATA_DIR="+dir+" reaches its agents only if it was set there. To be sure: "+h.Program+" "+h.ServerArg+" daemon stop")
	}
}

// checkHolders looks what is wrong with the holders of turns. A lock that a stopped process
// has is among the problems.
func (x *doctorRun) checkHolders(client *member.Client, names []string) {
	for _, name := range names {
		room := client.Room(name, nil)
		snap, err := room.FS.View()
		if err != nil || snap.State.Owner == "" {
			continue
		}
		now := room.Look(snap)
		list := slices.DeleteFunc(now.State.Trouble(now.Facts), func(t turn.Trouble) bool { return t.What == turn.LockStopped })
		if len(list) > 0 {
			x.Trouble = append(x.Trouble, roomTrouble{snap.State.RoomID, snap.State.CanonicalPath, list})
		}
	}
}

func checkAllRooms[S any](ctx context.Context, x *doctorRun, rules *fsroom.Rules[S]) error {
	names, err := fsroom.Folders(x.store, rules)
	checkRooms(ctx, x, rules, names)
	return err
}

func checkRooms[S any](ctx context.Context, x *doctorRun, rules *fsroom.Rules[S], names []string) {
	for _, name := range names {
		r := fsroom.At(x.store, rules, name)
		if !r.HasDir() {
			continue
		}
		x.Checked++
		switch {
		case rules.Folder != stick.Folder:
			x.Topics++
		case r.Exists():
			x.Rooms++
		default:
			x.EndedRooms++
		}
		problems := doctor.Check(r)
		// A journal that hosts share is fetched again, and not mended here.
		if x.repair && (x.Shared == nil || !slices.ContainsFunc(problems, func(p doctor.Problem) bool { return p.Line > 0 })) {
			problems = doctor.Repair(ctx, r)
		}
		x.Problems = append(x.Problems, problems...)
	}
}

func writeDoctor(t *cli.Text, r doctorResult) {
	for _, p := range r.Problems {
		writeProblem(t, p)
	}
	for _, room := range r.Trouble {
		t.Line("%s %s", t.Red("room"), room.CanonicalPath)
		for i := range room.Trouble {
			t.Line("    %s. Do: %s", room.Trouble[i].Sentence(), room.Trouble[i].Do)
		}
	}
	for _, p := range r.Notes {
		end := "; the next change clears it away"
		if p.Code != "" {
			end = " (" + p.Code + ")"
		}
		t.Line("%s %s: %s%s", t.Dim("note"), p.File, p.Problem, end)
	}
	for _, h := range r.Hooks {
		if h.Hint != "" && h.Installed > 0 { // whoever has installed none does not want to be reminded
			t.Line("%s hooks of %s (%s): %s", t.Dim("note"), string(h.Harness), h.File, h.Hint)
		}
	}
	writeTrees(t, r.Trees)
	for _, hint := range r.Hints {
		t.Line("%s %s", t.Dim("note"), hint)
	}
	for _, m := range r.MissingPaths {
		t.Line("%s a room belongs to %s, which is not there any more; its commands take --path %s", t.Dim("note"),
			m.CanonicalPath, code.ShellWord(m.CanonicalPath))
	}
	if r.Shared != nil && r.Shared.Reached {
		t.Line("%s the engine %s answers.", t.Green("ok"), r.Shared.Name)
	}
	switch {
	case len(r.Problems) > 0:
	case len(r.Trouble) > 0:
		t.Line("%s %s checked, no file is damaged, in %s.", t.Green("ok"), r.counts(), r.DataDir)
	case r.Checked == 0:
		t.Line("%s there is no room yet.", t.Green("ok"))
	default:
		t.Line("%s %s checked, nothing is wrong, in %s.", t.Green("ok"), r.counts(), r.DataDir)
	}
}

// counts returns a text such as "1 room, 3 topics": what there is and how many.
func (r doctorResult) counts() string {
	var parts []string
	for _, p := range []struct {
		n     int
		thing string
	}{{r.Rooms, "room"}, {r.EndedRooms, "ended room"}, {r.Topics, "topic"}} {
		if p.n > 0 {
			parts = append(parts, counted(p.n, p.thing))
		}
	}
	return strings.Join(parts, ", ")
}

func writeProblem(t *cli.Text, p doctor.Problem) {
	mark := t.Red("bad")
	if p.Repaired {
		mark = t.Green("repaired")
	}
	where := p.File
	if p.Line > 0 {
		where += ":" + itoa(int64(p.Line))
	}
	what := p.Problem
	if p.LostTo > 0 {
		what += ": " + event.Lost{From: p.LostFrom, To: p.LostTo}.Words() + "; the room goes on from its state.json"
	}
	if p.Code != "" {
		what += " (" + p.Code + ")"
	}
	t.Line("%s %s: %s", mark, where, what)
	if p.Lost != nil {
		t.Line("    %s could not be read any more; the damaged bytes are in %s", counted(*p.Lost, "event"), p.Kept)
	}
	if p.Repair != "" && !p.Repaired {
		t.Line("    --repair: %s", p.Repair)
	}
}

// sizeWords returns a size for people.
func sizeWords(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}

package ttcmd

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/hooks/listen"
	"github.com/talking-stick/tt/cmd/internal/manual"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/second"
	"github.com/talking-stick/tt/cmd/internal/setup"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/identity/harness"
)

var selfUpdateCommand = &cli.Command{
	Name:   "self-update",
	Hidden: true,
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Flags: func(f *cli.Flags) {
		f.DryRun()
	},
	Run: runSelfUpdate,
}

// An updateAdvice is the way to get a newer version.
type updateAdvice struct {
	Method     string   `json:"method"` // go-install, archive, make or unknown
	Executable string   `json:"executable"`
	Command    []string `json:"command"`        // arguments, to be run as they are
	Shell      string   `json:"shell"`          // the same for people to copy
	Runnable   bool     `json:"runnable"`       // whether running Command without a look at it is all right
	Note       string   `json:"note,omitempty"` // what to know besides
}

// An updateResult is the advice, and whether it was followed.
type updateResult struct {
	updateAdvice
	Ran bool `json:"ran"`
}

func runSelfUpdate(ctx context.Context, c *cli.Invocation) error {
	executable, err := c.Env.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable)
	}
	if err != nil {
		return code.New(code.Internal, "cannot tell where tt is installed").Because(err)
	}
	if root := filepath.Dir(filepath.Dir(executable)); isCheckout(root) {
		return code.New(code.Usage, "tt runs from a checkout of its source in %s", root).
			WithHint("run there: git pull && make").With("checkout", root)
	}
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	advice := adviseUpdate(executable, build.Installer, version)
	if c.Bool("dry-run") {
		return c.Out.Result(advice, func(t *cli.Text) { t.Line("%s", advice.Shell) })
	}
	res := updateResult{updateAdvice: advice}
	if advice.Runnable {
		if err := runUpdate(ctx, c, advice); err != nil {
			return err
		}
		res.Ran = true
	}
	return c.Out.Result(res, func(t *cli.Text) { writeUpdate(t, res) })
}

// isCheckout reports whether root is a git checkout of tt.
func isCheckout(root string) bool {
	_, git := os.Stat(filepath.Join(root, ".git"))
	_, source := os.Stat(filepath.Join(root, "cmd", "tt"))
	return git == nil && source == nil
}

// adviseUpdate returns how to update the binary at path, made by the given installer,
// see [installer]. The version is that of the main module: the go command sets one
// that begins with v where it has built a commit as it is.
func adviseUpdate(path, installer, version string) updateAdvice {
	const module, releases = "github.com/talking-stick/tt", "https://github.com/talking-stick/tt/releases/latest/download"
	const server = "tt-natsd"
	dir := filepath.Dir(path)
	isThere := func(program string) bool {
		_, err := exec.LookPath(filepath.Join(dir, program))
		return err == nil
	}
	// Programs of different versions beside each other are an update that was done by half.
	present, natsd := []string{second.TT}, isThere(server)
	for _, program := range second.Others() {
		if isThere(program) {
			present = append(present, program)
		}
	}
	a := updateAdvice{Method: installer, Executable: path}
	switch installer {
	case "make":
		a.Shell, a.Note = "git pull && make && install -m 0755 bin/"+strings.Join(present, " bin/")+" "+code.ShellWord(dir),
			"run it in the checkout that tt was built from"
		if filepath.Base(dir) == "bin" {
			a.Shell = "git pull && make install PREFIX=" + code.ShellWord(filepath.Dir(dir))
		}
		if natsd {
			a.Note += "; before make: make natsd, for the new " + server
		}
	case "archive":
		pattern := " --strip-components=2 --wildcards '*/bin/*'" // the programs are in bin
		if runtime.GOOS == "darwin" {                            // BSD tar matches patterns by itself
			pattern = " --strip-components=2 '*/bin/*'"
		}
		a.Shell = "curl -fsSL " + releases + "/tt_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz | tar -xzf - -C " + code.ShellWord(dir) + pattern
		a.Note = "checksums are in " + releases + "/SHA256SUMS"
	default:
		a.Method, a.Runnable = "go-install", strings.HasPrefix(version, "v") && !strings.HasSuffix(version, "+dirty")
		a.Command = []string{"env", "CGO_ENABLED=0", "GOBIN=" + dir, "go", "install"}
		for _, program := range present {
			a.Command = append(a.Command, module+"/cmd/"+program+"@latest")
		}
		if natsd { // a module of its own, which go install takes by itself only
			a.Note = "and " + server + ": CGO_ENABLED=0 go install " + module + "/cmd/" + server + "@latest"
		}
		a.Shell = "CGO_ENABLED=0 GOBIN=" + code.ShellWord(dir) + " " + strings.Join(a.Command[3:], " ")
		if !a.Runnable {
			a.Method, a.Note = "unknown", "how this tt was installed is unknown; this puts the latest release in its place"
		}
		return a
	}
	a.Command = []string{"sh", "-c", a.Shell}
	return a
}

// runUpdate runs the update. All its output goes to standard error, because the result
// on standard output is that of this command.
func runUpdate(ctx context.Context, c *cli.Invocation, advice updateAdvice) error {
	cmd := exec.CommandContext(ctx, advice.Command[0], advice.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.Env.Stderr, c.Env.Stderr
	if err := cmd.Run(); err != nil {
		return code.New(code.Internal, "the update failed: %v", err).
			WithHint("it was: %s", advice.Shell).With("command", advice.Command).Because(err)
	}
	// The update has succeeded even if old registrations cannot be removed.
	_ = setup.RemoveOld(c, "update")
	return nil
}

func writeUpdate(t *cli.Text, r updateResult) {
	if r.Ran {
		t.Line("Updated %s with: %s", r.Executable, r.Shell)
		return
	}
	t.Line("To update %s, run:", r.Executable)
	t.Line("  %s", r.Shell)
	if r.Note != "" {
		t.Line("(%s)", r.Note)
	}
}

// manCommand writes the manual pages; make install and make dist call it.
var manCommand = &cli.Command{
	Name:   "man",
	Hidden: true,
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "dir", Usage: "where to write them; made if it is not there"}},
	Run:    runMan,
}

func runMan(_ context.Context, c *cli.Invocation) error {
	dir := c.Env.Abs(c.Arg("dir"))
	var names []string
	err := os.MkdirAll(dir, 0o755)
	for _, page := range manual.Pages(c.Program, c.Program.BuildVersion()) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, page.Name), []byte(page.Text), 0o644)
		}
		names = append(names, page.Name)
	}
	if err != nil {
		return code.New(code.Internal, "cannot write the manual pages: %v", err).Because(err)
	}
	return c.Out.Result(map[string]any{"dir": dir, "pages": names}, func(t *cli.Text) { t.Line("%s in %s", counted(len(names), "page"), dir) })
}

// A harness runs hookCommand when something happens in a session, see [hooks]. It is installed into
// the settings of the harness; nobody types it.
var hookCommand = &cli.Command{
	Name:    "hook",
	Hidden:  true,
	Traits:  cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
	Args:    []cli.Arg{{Name: "kind", Optional: true, Rest: true}},
	Flags:   func(f *cli.Flags) { f.String("harness", "NAME", "whose payload it is") },
	Run:     runHook,
	Misread: hooks.Misread, // a newer version has installed it, see runHook
}

func runHook(ctx context.Context, c *cli.Invocation) error {
	kind := harness.Kind(c.Arg("kind"))
	if !slices.Contains(harness.Kinds(), kind) { // a newer version has installed it, which must not stop a harness
		return nil
	}
	status := hooks.Run(ctx, hooks.Command{
		Env:       c.Env,
		AgentID:   c.Agent,
		Table:     processes(c),
		Print:     c.Out.Print,
		OpenStore: func() (*fsroom.Store, error) { return openPatientStore(c, hooks.Patience, false) },
		OpenAll:   func() (*fsroom.Store, error) { return openPatientStore(c, hooks.Patience, true) },
		Locate:    func(path string) (*workspace.Workspace, error) { return locatePath(c, path) },
		Client: func(store *fsroom.Store, self identity.Agent) *member.Client {
			return clientFor(c, store, processes(c), self)
		},
		RecordAlone: func(ctx context.Context, store *fsroom.Store, root, destroys string) {
			changes.BeforeAlone(ctx, root, store, destroys, ledgerSetting(c))
		},
		UntilSignal: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return onSignal(ctx, endings...)
		},
	}, c.String("harness"), kind)
	if status != 0 {
		return cli.Exit(status)
	}
	return nil
}

// proveCommand notifies an agent once, a little later.
var proveCommand = &cli.Command{
	Name:   "hook prove",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
	Flags:  func(f *cli.Flags) { f.Duration("after", "D", 0, "wait that long") },
	Run: func(ctx context.Context, c *cli.Invocation) error {
		client, err := newClient(c)
		if err == nil {
			hooks.Prove(ctx, client, c.Duration("after"))
		}
		return err
	},
}

// Hear returns the command that keeps the wake file of an agent true on this host, see
// [listen.Agent.Hear]. The hooks start it where an engine has the rooms.
func Hear() *cli.Command {
	return &cli.Command{
		Name:   "hook hear",
		Hidden: true,
		Traits: cli.Traits{Silent: true, NoSync: true, Offline: true, NoSubject: true},
		Run: func(ctx context.Context, c *cli.Invocation) error {
			client, err := newClient(c)
			if err != nil {
				return err
			}
			ctx, stop := onSignal(ctx, endings...)
			defer stop()
			return (&listen.Agent{Client: client}).Hear(ctx)
		},
	}
}

// guardCommand is the guardian of a turn. It is started by wait, try and take, never
// by hand, see [member.Client.Guard].
var guardCommand = &cli.Command{
	Name:   "guard",
	Hidden: true,
	Traits: cli.Traits{Silent: true, NoSync: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "room", Usage: "the room's id"}},
	Flags: func(f *cli.Flags) {
		f.Int64("turn", "N", 0, "the turn to keep")
		f.String("lease", "DIGEST", "a digest of its fencing token")
	},
	Run: runGuard,
}

func runGuard(ctx context.Context, c *cli.Invocation) error {
	_ = os.WriteFile("/proc/self/comm", []byte("tt-guard"), 0) // Linux: what ps shows, and not exe
	signal.Ignore(syscall.SIGHUP)                              // the guardian outlives the terminal
	client, err := newClient(c)
	if err != nil {
		return err
	}
	ctx, stop := onSignal(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return client.Guard(ctx, c.Arg("room"), c.Int64("turn"), c.String("lease"))
}

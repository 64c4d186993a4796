package ttcmd

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/ttcmd/scripthosts"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
	"github.com/talking-stick/tt/identity"
)

// The scripts in testdata/script are terminal sessions. Every tt in them is a
// process of its own, see [programs]. Harnesses, terminals and the like are this test
// binary, started under their name.

var update = flag.Bool("update", false, "rewrite what cmp compares with in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(scripts{m}, map[string]func(){
		"grok":     grokMain,
		"holdlock": holdlockMain,
		"brim":     brimMain,
		"serve":    serveMain,
		"terminal": terminalMain,
		"unread":   unreadMain,

		"agent-bus": func() {}, // is only registered
	})
}

// scripts runs the tests with more scripts at once than there are processors:
// much of a script is waiting for processes and for the disk.
type scripts struct{ *testing.M }

func (s scripts) Run() int {
	const atOnce = "16"
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			fmt.Fprintf(os.Stderr, "%v is ignored here, as under nohup: what the scripts send to commands would not end them\n", s)
			return 2
		}
	}
	os.Setenv(changes.Variable, "off") // but where a script switches it on
	defer func() {
		if programDir != "" {
			os.RemoveAll(programDir)
		}
	}()
	return fsroomtest.Main(s.M)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	deadline, ok := t.Deadline()
	if !ok {
		const generous = 8 * time.Minute
		deadline = time.Now().Add(generous)
	}
	testscript.Run(t, testscript.Params{
		Deadline:            deadline,
		Files:               scriptFiles(t),
		Setup:               func(env *testscript.Env) error { return setUpScript(env, namespace(env.WorkDir)) },
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json":      scriptJSON,
			"masked":    scriptMasked,
			"keep":      scriptKeep,
			"until":     scriptUntil,
			"await":     scriptAwait,
			"like":      scriptLike,
			"snapshot":  scriptSnapshot,
			"same":      scriptSame,
			"alter":     scriptAlter,
			"roomdir":   scriptRoomDir,
			"repeat":    scriptRepeat,
			"signal":    scriptSignal,
			"alive":     scriptAlive,
			"gone":      scriptGone,
			"exits":     scriptExits,
			"unhealthy": scriptUnhealthy,
			"fetched":   scriptFetched,
			"payload":   scriptPayload,
		},
	})
}

// condition is true for "tool:NAME" where there is a program NAME. On the
// machine that decides whether a change lands, which says CI=true, its absence
// is an error: what needs it must not be skipped there. "engine" is true where an engine
// shares the rooms, "hosts" where each agent is on a host of its own.
func condition(name string) (bool, error) {
	switch name {
	case "engine":
		return scripthosts.WithEngine(), nil
	case "hosts":
		return scripthosts.Many(), nil
	}
	tool, ok := strings.CutPrefix(name, "tool:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	_, err := exec.LookPath(tool)
	if err != nil && os.Getenv("CI") == "true" {
		return false, err
	}
	return err == nil, nil
}

// healthKey is where a script says that doctor may find something at its end.
type healthKey struct{}

// setUpScript gives a script a home, a data directory that does not exist yet,
// and a workspace as current directory. Nothing of our own environment gets in.
// Whoever joined counts as ready for the stick for an hour and not for the usual
// ten seconds, which may pass between two lines of a script on a busy machine.
// Changes of the tree are recorded only where a script says so: it would cost each a process.
// When the script ends nothing of it runs any more, and its rooms are sound.
//
// STORE is the directory that has the rooms: that of the mirrors, if there is an engine,
// whose address is url.
func setUpScript(env *testscript.Env, url string) error {
	work, sharing := env.WorkDir, scriptSharing{env.WorkDir, url}
	bin, err := programs()
	if err != nil {
		return err
	}
	person, err := identity.Resolve(identity.Env{User: identity.SystemEnv().User}, identity.System(), "")
	if err != nil {
		return err
	}
	home, data, ws := filepath.Join(work, "home"), filepath.Join(work, "data"), filepath.Join(work, "ws")
	for _, dir := range []string{home, ws} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(ws, "go.mod"), []byte("module example.org/ws\n"), 0o644); err != nil {
		return err
	}
	env.Vars = slices.DeleteFunc(env.Vars, func(v string) bool { return strings.HasPrefix(v, "HOME=") })
	env.Vars = append(env.Vars, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "USER=tester", "TALKING_STICK_DATA_DIR="+data, "DATA="+data, "STORE="+sharing.store(data), "HUMAN="+person.ID,
		scripthosts.EngineVariable+"="+os.Getenv(scripthosts.EngineVariable), scripthosts.HostsVariable+"="+os.Getenv(scripthosts.HostsVariable), hosts.EngineVariable+"="+url,
		"TALKING_STICK_WAITER_GRACE=1h", "TT_HOOK_SECONDS=600", changes.Variable+"=off", "GORACE=atexit_sleep_ms=0 halt_on_error=1")
	if url != "" { // rooms with an engine have shorter times, which scripts need not know
		env.Vars = append(env.Vars, "TALKING_STICK_OWNER_LEASE_TTL=45m", "TALKING_STICK_HEARTBEAT_INTERVAL=5m", "TALKING_STICK_CLAIM_TTL=20m")
	}
	env.Cd = ws
	health := new(health)
	env.Values[healthKey{}], env.Values[snapshotKey{}], env.Values[sharingKey{}] = health, new(map[string]string), sharing
	env.Defer(func() {
		if err := endStrays("WORK=" + work); err != nil {
			env.T().Fatal(err)
		}
		if health.excused {
			return
		}
		if problems := sharing.compare(); problems != "" {
			env.T().Fatal("at the end of the script:\n" + problems)
		}
		for _, dir := range sharing.stores() {
			if problems := examine(dir); problems != "" {
				env.T().Fatal("at the end of the script doctor finds:\n" + problems)
			}
		}
	})
	return nil
}

type health struct{ excused bool }

// scriptUnhealthy says that the script leaves damaged files behind.
func scriptUnhealthy(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Value(healthKey{}).(*health).excused = true
}

// examine returns what doctor finds in the rooms of a data directory: among
// others, a projection that is not what the journal folds to. What a killed process leaves by
// design is no fault: guardians that a script leaves behind are killed, maybe while they write.
func examine(data string) string {
	host := "" // of rooms that no other shares
	if filepath.Base(filepath.Dir(data)) == "engines" {
		host = "test"
	}
	store, err := fsroom.Open(data, fsroom.Options{Host: host})
	if err != nil {
		return err.Error()
	}
	names, err := fsroom.Rooms(store, stick)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, name := range names {
		for _, p := range doctor.Check(fsroom.At(store, stick, name)) {
			if !p.Harmless {
				fmt.Fprintf(&b, "%s:%d: %s\n", p.File, p.Line, p.Problem)
			}
		}
	}
	return b.String()
}

package ttcmd

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/identity"
)

var killedJobs = flag.Int("jobs.killed", 24, "how many jobs TestJobsUnderKills starts")

// TestJobsUnderKills kills starters, runners and commands with SIGKILL, each at every point
// and several at once: every end is told exactly once.
func TestJobsUnderKills(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, err := r.run("a:1", "join"); err != nil {
		t.Fatal(err)
	}
	store, err := fsroom.Open(r.data, fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := filepath.Glob(filepath.Join(r.data, "rooms", "*"))
	if err != nil || len(rooms) != 1 {
		t.Fatalf("%v, %v", rooms, err)
	}
	room := &jobs.Room{Store: store, Name: filepath.Base(rooms[0]), Table: identity.System()}
	kill := func(j *jobs.Job, runner, command bool) {
		for _, p := range []struct {
			is      bool
			process *identity.Process
		}{{runner, j.Runner}, {command, j.Process}} {
			if p.is && p.process != nil {
				_ = syscall.Kill(p.process.PID, syscall.SIGKILL)
			}
		}
	}
	program := func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		return path
	}
	endless, short := []string{"--", program("tail"), "-f", os.DevNull}, program("true")
	started := func(name string) *jobs.Job {
		if _, err := r.run("a:1", append([]string{"job", "run", name}, endless...)...); err != nil {
			t.Error(err)
			return nil
		}
		j, err := room.Find(name)
		if err != nil || j == nil {
			t.Errorf("%s: %v, %v", name, j, err)
		}
		return j
	}
	startKilled := func(step string) func(string) {
		return func(name string) {
			cmd := r.command("a:1", "job", "run", name, "--", short)
			cmd.Env = append(cmd.Env, "TT_TEST_KILL_AT_JOB="+step)
			_ = cmd.Run()
		}
	}
	killed := func(runner, command bool) func(string) {
		return func(name string) {
			if j := started(name); j != nil {
				kill(j, runner, command)
				if !command {
					_ = j.Stop(t.Context(), true)
				}
			}
		}
	}
	deeds := []struct {
		do      func(name string)
		outcome string // "" for a job of which nobody is told
	}{
		{startKilled("claimed"), ""},
		{startKilled("written"), ""},
		{startKilled("opened"), talk.JobLost},
		{startKilled("forked"), talk.JobPassed},
		{killed(true, false), talk.JobLost},
		{killed(false, true), talk.JobFailed},
		{killed(true, true), "lost or failed"},
		{func(name string) { _, _ = r.run("a:1", "job", "run", name, "--", short) }, talk.JobPassed},
	}
	each := (*killedJobs + len(deeds) - 1) / len(deeds)
	want := map[string]string{}
	var wait sync.WaitGroup
	for n := range each {
		for i, deed := range deeds {
			name := "j" + strconv.Itoa(n*len(deeds)+i)
			want[name] = deed.outcome
			wait.Go(func() { deed.do(name) })
		}
		wait.Go(func() { _, _ = r.run("a:1", "status") }) // those who look at the same time
		wait.Wait()
	}
	for limit := time.Now().Add(2 * time.Minute); len(room.Untold()) > 0; {
		if time.Now().After(limit) {
			t.Fatalf("%d ends were not told", len(room.Untold()))
		}
		if _, err := r.run("a:1", "status"); err != nil {
			t.Fatal(err)
		}
	}
	told := map[string]string{}
	events := r.events()
	for i := range events {
		if j := talk.JobOf(&events[i]); j.ID != 0 {
			if told[j.Name] != "" {
				t.Errorf("%s was told twice", j.Title())
			}
			told[j.Name] = j.Outcome
		}
	}
	for name, outcome := range want {
		if got := told[name]; got != outcome && (outcome != "lost or failed" || got == "" || !strings.Contains(outcome, got)) {
			t.Errorf("%s: told %q, want %q", name, got, outcome)
		}
	}
	if in, err := r.run("a:1", "inbox", "--json"); err != nil || !strings.Contains(in, fmt.Sprintf(`"jobs":%d}`, len(told))) {
		t.Errorf("%s, %v", in, err)
	}
	for range len(told) / 50 { // as many are shown at once
		if _, err := r.run("a:1", "inbox"); err != nil {
			t.Fatal(err)
		}
	}
	if in, err := r.run("a:1", "inbox", "--json"); err != nil || !strings.Contains(in, `"jobs":0}`) {
		t.Errorf("again: %s, %v", in, err)
	}
}

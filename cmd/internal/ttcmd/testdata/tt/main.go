// Command tt is the tt that scripts run. It differs from cmd/tt in what the environment makes
// of it:
//
//	PAUSE="STEP N REACHED GO"  makes the file REACHED when it comes to a step of a change for
//	                           the Nth time, and goes on when there is a file GO; guardians
//	                           do not pause
//	TT_TEST_PATIENCE=D         waits for the lock of a room for as long as that, and as long for
//	                           what takes no time on a machine that is not busy, such as an
//	                           answer of the engine: 2m by default; 0: as tt does
//	TT_TEST_UNHEARD=D          lets a listener leave a notification unnoticed for as long as that
//	TT_TEST_KILL_AT_JOB=STEP   kills itself at a step of the start of a job
//	TT_TEST_JOBS=N             so many jobs of a room may run
//	TT_TEST_JOB_BYTES=N        so many bytes a job may write
//
// With the tag engines it is also the program that has the engines of the scripts.
package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/talking-stick/tt/cmd/internal/changes"
	"github.com/talking-stick/tt/cmd/internal/hooks"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/turn"
)

func main() {
	var b ttcmd.Build
	if where := strings.Fields(os.Getenv("PAUSE")); len(where) == 4 && !slices.Contains(os.Args, "guard") {
		n, err := strconv.Atoi(where[1])
		if err != nil {
			fail(err)
		}
		var passed atomic.Int64
		b.AtStep = func(step fsroom.Step) error {
			if string(step) == where[0] && passed.Add(1) == int64(n) {
				pause(where[2], where[3])
			}
			return nil
		}
	}
	var err error
	if b.Patience, err = time.ParseDuration(cmp.Or(os.Getenv("TT_TEST_PATIENCE"), "2m")); err != nil {
		fail(err)
	}
	if b.Patience != 0 {
		guard.Patience, hooks.GitPatience, hooks.SupersedePatience = b.Patience, b.Patience, b.Patience
		changes.BeforeLimit, engine.Slack = b.Patience, b.Patience
		fsroom.ChangePatience, member.ReplacePatience, turn.UnheardAfter = b.Patience, b.Patience, b.Patience
	}
	if d, err := time.ParseDuration(os.Getenv("TT_TEST_UNHEARD")); err == nil {
		turn.UnheardAfter = d
	}
	if n, err := strconv.Atoi(os.Getenv("TT_TEST_JOBS")); err == nil {
		jobs.MaxRunning = n
	}
	if n, err := strconv.ParseInt(os.Getenv("TT_TEST_JOB_BYTES"), 10, 64); err == nil {
		jobs.MaxOutput = n
	}
	if step := os.Getenv("TT_TEST_KILL_AT_JOB"); step != "" {
		member.AtJobStep = func(s string) {
			if s == step {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
		}
	}
	share(&b)
	ttcmd.Main(b)
}

// lookAgain is the pause between two looks.
const lookAgain = 5 * time.Millisecond

func pause(reached, goOn string) {
	if err := os.WriteFile(reached, []byte("reached\n"), 0o600); err != nil {
		fail(err)
	}
	for _, err := os.Stat(goOn); err != nil; _, err = os.Stat(goOn) {
		time.Sleep(lookAgain)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

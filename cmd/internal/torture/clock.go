//go:build linux

package torture

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/torture/overlay"
)

// stepVariable says by how many seconds the clock of a program built by withStep is wrong.
const stepVariable = "TT_TORTURE_STEP"

// withStep builds a program whose wall clock can be wrong. The clock of the machine stays as it
// is: the package time of the program is another one.
func (e *env) withStep(program string) (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	path := filepath.Join(e.base, filepath.Base(program)+"-step")
	const now = "func Now() Time {\n	sec, nsec, mono := runtimeNow()\n"
	return path, overlay.Build(path, program,
		edit{File: filepath.Join(source, "time.go"), Old: now, New: now + "	sec += step\n"},
		edit{File: filepath.Join(source, "step.go"), New: `package time

import "syscall"

var step = func() (n int64) {
	text, _ := syscall.Getenv("` + stepVariable + `")
	sign := int64(1)
	for _, c := range text {
		if c == '-' {
			sign = -1
		} else {
			n = 10*n + int64(c-'0')
		}
	}
	return sign * n
}()
`})
}

// clocks lets agents take turns while the clock of one server after the other is an hour back or
// ahead, and those of the hosts are days apart. Leases may then run out early or late; turns are
// granted once all the same.
func clocks(e *env, r *report) {
	wrong, err := e.other()
	if !r.check("a directory", err) {
		return
	}
	for program, path := range map[string]*string{"cmd/tt-nats": &wrong.tt, "cmd/tt-natsd": &wrong.natsd} {
		build, err := e.withStep(program)
		if !r.check("building", err) {
			return
		}
		*path = build
	}
	back, ahead := stepped(-time.Hour), stepped(time.Hour)
	steps := []time.Duration{0, -48 * time.Hour, 72 * time.Hour, 0, time.Minute}
	wrong.try(r, plan{servers: 3, hosts: 5, agents: 6, lease: 2 * time.Second, odds: 12, early: true, steps: steps, faults: []failure{
		{"the leader starts again with a clock that is an hour back", ofLeader(back), 15 * time.Second},
		{"the leader starts again with a clock that is an hour ahead", ofLeader(ahead), 15 * time.Second},
		{"another server starts again with a clock that is an hour back", ofFollower(back), 5 * time.Second},
		{"the leader is killed", ofLeader(killServer), 8 * time.Second},
		{"the leader is killed", ofLeader(killServer), 8 * time.Second},
	}})
}

// stepped restarts a server with a clock that is wrong by d, and leaves it so.
func stepped(d time.Duration) func(*trial, *server) (func() error, error) {
	return func(_ *trial, s *server) (func() error, error) {
		s.kill()
		s.environ = stepEnviron(d)
		return func() error { return nil }, s.start()
	}
}

func stepEnviron(d time.Duration) []string {
	return []string{fmt.Sprintf("%s=%d", stepVariable, int64(d/time.Second))}
}

//go:build !windows

package member

import "syscall"

// kill ends the guardian and collects it, so that a wait that loses many turns to
// others leaves no zombies. The pid belongs to the guardian until it is collected, and
// kill sends the signal once at most.
func (g *guardianProcess) kill() {
	if g == nil {
		return
	}
	g.killed.Do(func() {
		_ = syscall.Kill(g.PID, syscall.SIGKILL)
		go func() { _, _ = syscall.Wait4(g.PID, nil, 0, nil) }()
	})
}

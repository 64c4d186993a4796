package member

import "os"

// kill ends the guardian.
func (g *guardianProcess) kill() {
	if g == nil {
		return
	}
	if p, err := os.FindProcess(g.PID); err == nil {
		_ = p.Kill()
	}
}

//go:build linux

package reach

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	table "github.com/talking-stick/tt/identity/harness"
)

// programOf returns the program of a harness: that which its variable names, else that which npm
// installs into the directory TT_REACH.
func programOf(t *testing.T, h harness) string {
	t.Helper()
	if program := os.Getenv(h.variable); program != "" {
		return program
	}
	dir := os.Getenv("TT_REACH")
	if dir == "" {
		t.Skipf("neither %s nor TT_REACH is given", h.variable)
	}
	row := table.Get(table.ID(h.id))
	dir = filepath.Join(dir, h.id+"-"+h.version)
	program := filepath.Join(dir, "node_modules", ".bin", row.Program)
	if exec.Command(program, "--version").Run() == nil {
		return program
	}
	must(t, os.MkdirAll(dir, 0o755))
	out, err := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", dir, row.Package+"@"+h.version).CombinedOutput()
	if err == nil {
		out, err = exec.Command(program, "--version").CombinedOutput()
	}
	if err != nil {
		t.Skipf("COULD NOT HAVE %s %s: %v\n%s", row.Package, h.version, err, out)
	}
	return program
}

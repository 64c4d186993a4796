package ttcmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/ttcmd/scripthosts"
)

// The programs of the scripts are built from the sources that are tested, once and only if a
// script runs: tt as in testdata/tt, and tt-console.

// programDir is where they are, "" as long as none was built.
var programDir string

// programs builds them and returns their directory.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tt-programs")
	if err != nil {
		return "", err
	}
	programDir = dir
	const commands = "github.com/talking-stick/tt/cmd/"
	flags, console := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}, commands+"tt-console"
	if scripthosts.WithEngine() {
		flags, console = append(flags, "-tags=engines"), commands+"internal/ttcmd/testdata/tt-console"
	}
	cgo := "CGO_ENABLED=0"
	if underRace {
		flags, cgo = append(flags, "-race"), "CGO_ENABLED=1"
	}
	cmd := exec.Command("go", append(flags, commands+"internal/ttcmd/testdata/tt", console)...)
	cmd.Env = append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

// programPath returns PATH with the programs first.
func programPath(t *testing.T) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

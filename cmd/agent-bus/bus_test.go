package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/cli"
)

// A relative directory would be another one for each server, and agents would
// not meet.
func TestDataDirIsAbsolute(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	for _, variable := range []string{envDataDir, "TALKING_STICK_DATA_DIR"} {
		for value, ok := range map[string]bool{filepath.Join(here, "bus"): true, "bus": false, "~/bus": false} {
			env := &cli.Env{Dir: here, Home: here, Lookup: func(name string) string {
				if name == variable {
					return value
				}
				return ""
			}}
			dir, err := dataDir(env)
			switch {
			case ok && (err != nil || dir != value):
				t.Errorf("%s=%s: %q, %v", variable, value, dir, err)
			case !ok && (tools.Translate(err).Code != "DATA_DIR_UNUSABLE" || !strings.Contains(err.Error(), variable)):
				t.Errorf("%s=%s: %q, %v", variable, value, dir, err)
			}
		}
	}
}

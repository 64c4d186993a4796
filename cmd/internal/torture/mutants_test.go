//go:build linux

package torture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The edits of each mutant fit the source.
func TestMutantsFit(t *testing.T) {
	for _, m := range slices.Concat(mutants(), mutantsOnHosts(), []mutant{{name: "patient", edits: patient}}) {
		for _, e := range m.edits {
			source, err := os.ReadFile(filepath.Join("../../..", e.File))
			if n := strings.Count(string(source), e.Old); err != nil || n != 1 {
				t.Errorf("%s: %s has %q %d times, %v", m.name, e.File, e.Old, n, err)
			}
		}
	}
}

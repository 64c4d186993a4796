package skills

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/instructions"
)

// TestRootInTheHomeOfAnother leaves nothing that this user could not use.
func TestRootInTheHomeOfAnother(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can do that")
	}
	const stranger = 54321
	h := newHome(t)
	h.write(".claude/settings.json", "{}\n")
	h.mkdir(".codex")
	top := filepath.Dir(h.Home)
	each := func(do func(path string, owner int)) {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil {
				do(path, int(info.Sys().(*syscall.Stat_t).Uid))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	each(func(path string, _ int) {
		if err := os.Lchown(path, stranger, stranger); err != nil {
			t.Fatal(err)
		}
	})
	h.install(only(harness.ClaudeCode, harness.Codex), Added, Added)
	if _, _, err := (instructions.Layers{DataDir: h.DataDir}).EditTarget(instructions.User); err != nil {
		t.Fatal(err)
	}
	each(func(path string, owner int) {
		if owner != stranger {
			t.Errorf("%s belongs to %d", path, owner)
		}
	})
}

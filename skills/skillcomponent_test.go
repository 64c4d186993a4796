package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/identity/harness"
)

const installedSkill = ".claude/skills/talking-stick/SKILL.md"

// bare is a home with Claude Code, and options for the skill alone.
func bare(t *testing.T) (*home, Options) {
	h := newHome(t)
	h.mkdir(".claude")
	opts := only(harness.ClaudeCode)
	opts.NoHooks = true
	return h, opts
}

func replacing(opts Options) Options { opts.Replace = true; return opts }

func TestAnEditedSkillIsKept(t *testing.T) {
	t.Parallel()
	h, opts := bare(t)
	h.install(opts, Added)
	h.write(installedSkill, "mine")
	if r := h.install(opts, Skipped)[0]; !strings.Contains(r.Message, "--replace") || h.read(installedSkill) != "mine" {
		t.Errorf("%+v", r)
	}
	if h.uninstall(opts, Skipped); h.read(installedSkill) != "mine" {
		t.Error("removed")
	}
	h.install(replacing(opts), Updated)
	if h.read(installedSkill) != skillText {
		t.Error("not replaced")
	}
	backups, _ := filepath.Glob(filepath.Join(h.DataDir, "backups", "*"))
	if len(backups) != 1 {
		t.Fatalf("backups %v", backups)
	}
	if data, _ := os.ReadFile(backups[0]); string(data) != "mine" {
		t.Errorf("backup %q", data)
	}
	h.write(installedSkill, "mine again")
	h.uninstall(replacing(opts), Removed)
	if h.exists(".claude/skills") {
		t.Error("not removed")
	}
}

func TestASkillThatWasThereBefore(t *testing.T) {
	t.Parallel()
	h, opts := bare(t)
	h.write(installedSkill, "by hand")
	h.install(opts, Skipped)
	h.uninstall(opts, Skipped)
	if h.read(installedSkill) != "by hand" {
		t.Error("touched")
	}
}

func TestOtherFilesBesideTheSkillStay(t *testing.T) {
	t.Parallel()
	h, opts := bare(t)
	h.install(opts, Added)
	h.write(".claude/skills/talking-stick/notes.md", "mine")
	if r := h.uninstall(opts, Removed)[0]; !strings.Contains(r.Message, "notes.md") {
		t.Errorf("%+v", r)
	}
	if h.exists(installedSkill) || h.read(".claude/skills/talking-stick/notes.md") != "mine" {
		t.Error(h.everything())
	}
}

func TestLinksOfOthers(t *testing.T) {
	t.Parallel()
	h, opts := bare(t)
	h.write("dotfiles/skill/SKILL.md", "mine")
	h.mkdir(".claude/skills")
	link := h.path(".claude/skills/talking-stick")
	if err := os.Symlink(h.path("dotfiles/skill"), link); err != nil {
		t.Skip(err)
	}
	h.install(opts, Skipped)
	h.uninstall(opts, Skipped)
	h.install(replacing(opts), Updated)
	if h.read(installedSkill) != skillText || h.read("dotfiles/skill/SKILL.md") != "mine" {
		t.Error(h.everything())
	}
	h.uninstall(opts, Removed)

	// The old product's link, whose target may be gone, is nobody's work.
	old := h.path("lib/node_modules/talking-stick/skills/talking-stick")
	for _, act := range []func(){
		func() { h.install(opts, Updated); h.uninstall(opts, Removed) },
		func() { h.uninstall(opts, Removed) },
	} {
		h.mkdir(".claude/skills")
		if err := os.Symlink(old, link); err != nil {
			t.Fatal(err)
		}
		act()
		if h.exists(".claude/skills/talking-stick") {
			t.Error("still there")
		}
	}
}

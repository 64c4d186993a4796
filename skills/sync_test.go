package skills

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
)

// changeForeign changes what is recorded of a settings file.
func (h *home) changeForeign(id harness.ID, below string, change func(*foreignFile)) {
	h.t.Helper()
	rec, err := h.loadRecord()
	if err != nil {
		h.t.Fatal(err)
	}
	m := rec.of(id).Foreign[h.path(below)]
	change(&m)
	rec.of(id).Foreign[h.path(below)] = m
	if err := h.save(rec); err != nil {
		h.t.Fatal(err)
	}
}

// outdate makes the record and the files look like an earlier version's work.
func (h *home) outdate(files ...string) {
	h.t.Helper()
	data, err := os.ReadFile(h.recordPath())
	if err != nil {
		h.t.Fatal(err)
	}
	record := strings.ReplaceAll(string(data), fingerprint(), "sha256:old")
	for _, below := range files {
		record = strings.ReplaceAll(record, digestOf(h.read(below)), digestOf("old "+below))
		h.write(below, "old "+below)
	}
	if err := os.WriteFile(h.recordPath(), []byte(record), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func TestSyncBringsUpToDateAndNothingElse(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	h.install(only(harness.ClaudeCode, harness.OpenCode, harness.Grok, harness.Codex), Added, Added, Added, Added)
	current := h.everything()
	if changed := h.Sync(context.Background()); changed != nil {
		t.Errorf("up to date, and yet: %+v", changed)
	}

	plugin, grok := ".config/opencode/plugins/talking-stick.js", ".grok/hooks/talking-stick.json"
	h.outdate(installedSkill, plugin)
	h.write(grok, "edited by the user")
	settings := strings.Replace(h.read(claudeFile), "tt hook edit --harness claude-code 2>/dev/null", "tt hook edit --harness claude-code --old", 1)
	h.write(claudeFile, settings)
	h.changeForeign(harness.ClaudeCode, claudeFile, func(m *foreignFile) { m.Written = digestOf(settings) })
	if changed := h.Sync(context.Background()); len(changed) != 2 || changed[0].Harness != harness.ClaudeCode || changed[1].Harness != harness.OpenCode {
		t.Errorf("%+v", changed)
	}
	if h.read(grok) != "edited by the user" {
		t.Error("an edited file was overwritten")
	}
	h.write(grok, ownHooks(hookEntries(harness.Grok, false)))
	if got := h.everything(); got != current {
		t.Errorf("now:\n%s\n\nwant:\n%s", got, current)
	}
	if changed := h.Sync(context.Background()); changed != nil {
		t.Errorf("a second time: %+v", changed)
	}
}

func TestSyncAddsNothing(t *testing.T) {
	t.Parallel()
	h := fullHome(t)
	opts := only(harness.ClaudeCode, harness.Codex, harness.Antigravity)
	opts.NoHooks = true
	h.install(opts, Added, Added, Added)
	if err := os.RemoveAll(h.path(".codex/skills")); err != nil {
		t.Fatal(err)
	}
	before := h.everything()
	h.outdate()
	if changed := h.Sync(context.Background()); changed != nil || h.everything() != before {
		t.Errorf("%+v\n%s", changed, h.everything())
	}
}

func TestSyncKeepsAnEditedSkill(t *testing.T) {
	t.Parallel()
	h, opts := bare(t)
	h.install(opts, Added)
	h.outdate()
	h.write(installedSkill, "mine")
	if h.Sync(context.Background()); h.read(installedSkill) != "mine" {
		t.Error("overwritten")
	}
}

func TestSyncCanBeSwitchedOffAndNeverComplains(t *testing.T) {
	t.Parallel()
	h, opts := bare(t)
	if changed := h.Sync(context.Background()); changed != nil || isDir(h.DataDir) {
		t.Error("a sync of nothing leaves traces")
	}
	h.install(opts, Added)
	h.outdate(installedSkill)
	h.vars["TALKING_STICK_DISABLE_SKILL_SYNC"] = "1"
	if h.Sync(context.Background()); h.read(installedSkill) == skillText {
		t.Error("not switched off")
	}
	h.vars["TALKING_STICK_DISABLE_SKILL_SYNC"] = " "
	unlock, err := h.lock(context.Background(), lockPatience)
	if err != nil {
		t.Fatal(err)
	}
	if h.Sync(context.Background()); h.read(installedSkill) == skillText {
		t.Error("did not mind another installation")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.recordPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed := h.Sync(context.Background()); changed != nil {
		t.Errorf("%+v", changed)
	}
}

func TestRecordsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]code.Code{"{": code.DataDirUnusable, `{"format": 2}`: code.UnsupportedFormat} {
		h, opts := bare(t)
		if err := os.MkdirAll(h.DataDir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.recordPath(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Install(context.Background(), opts); code.Of(err) != want {
			t.Errorf("%s: %v", content, err)
		}
		if h.exists(".claude/skills") {
			t.Error("installed without a record")
		}
	}
}

// TestNothingIsShownOfWhatWasNotDone: an installation that cannot be recorded shows no texts, as one that was done.
func TestNothingIsShownOfWhatWasNotDone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.DataDir = h.path("nowhere")
	p := h.planner(Options{}, &record{Installs: map[harness.ID]*installed{}}, harness.Grok)
	p.change(fileChange{action: Write, path: h.path("f"), after: []byte("a text")})
	if r := h.carryOut(p, Result{}); r.Status != Failed || r.Steps[0].Text != "" {
		t.Errorf("%+v", r)
	}
}

package ttcmd

import (
	"os"
	"strings"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/instructions"
)

// helpAgents returns the page of "tt help agents".
func helpAgents(t *testing.T) string {
	t.Helper()
	var page strings.Builder
	env := &cli.Env{Args: []string{"help", "agents"}, Stdout: &page, Stderr: &page}
	if status := program().Main(t.Context(), env); status != 0 {
		t.Fatal(page.String())
	}
	return page.String()
}

// Every agent pays for the skill and the instructions in every session, and for the help
// when it needs it. A token of o200k is about four bytes of such text; the numbers of
// tokens were measured when the limits were set.
func TestPagesForAgentsAreShort(t *testing.T) {
	skill, err := os.ReadFile("../../../skills/talking-stick/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	sizes := []struct {
		page, text string
		most       int // bytes
	}{
		{"SKILL.md", string(skill), 3600},       // 850 tokens
		{"tt help agents", helpAgents(t), 3600}, // 857 tokens
	}
	for _, name := range harness.Agents() {
		doc, err := instructions.Layers{}.Show(instructions.Bundled, name)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, struct {
			page, text string
			most       int
		}{"instructions for " + name, doc.Text, 1500}) // at most 260 tokens
	}
	for _, s := range sizes {
		t.Logf("%s: %d bytes", s.page, len(s.text))
		if len(s.text) == 0 || len(s.text) > s.most {
			t.Errorf("%s has %d bytes, at most %d", s.page, len(s.text), s.most)
		}
	}
}

// What the skill leaves out is in the help.
func TestHelpTeachesWhatTheSkillLeavesOut(t *testing.T) {
	page := strings.Join(strings.Fields(helpAgents(t)), " ")
	for _, words := range []string{
		"open_claim", "sequence", "direct_pass", "already_owner", "owner_timeout", "owner_gone", "claim_timeout", "recipient_gone", "owner_idle", "owner_limited", "your own where nobody else came",
		"guardian_pid", "make sure that nobody works on it any more", "git status", "wait once more",
		"in the foreground", "longest ago", "last one", "do_not", "tt events --follow", "tt leave", "tt take --reason", "--operator-requested",
	} {
		if !strings.Contains(page, words) {
			t.Errorf("nothing about %q", words)
		}
	}
}

// A background wait is right only where the harness tells its agent of its end.
func TestOnlyClaudeWaitsInTheBackground(t *testing.T) {
	for _, name := range harness.Agents() {
		doc, err := instructions.Layers{}.Show(instructions.Bundled, name)
		if err != nil {
			t.Fatal(err)
		}
		if background := strings.Contains(doc.Text, "in the background"); background != (name == "claude") {
			t.Errorf("%s: %s", name, doc.Text)
		}
		if !strings.Contains(doc.Text, "you are told when the stick is yours") {
			t.Errorf("%s is not told that hooks wake it", name)
		}
	}
}

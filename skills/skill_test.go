package skills

import (
	"strings"
	"testing"
)

// The front matter as https://agentskills.io defines it.
func TestSkillFrontMatter(t *testing.T) {
	rest, ok := strings.CutPrefix(skillText, "---\n")
	front, _, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		t.Fatal("no front matter")
	}
	fields := map[string]string{}
	for line := range strings.Lines(front) {
		name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			t.Errorf("not a plain field: %q", line)
		}
		fields[name] = value
	}
	if fields["name"] != Name {
		t.Errorf("name %q is not its directory's", fields["name"])
	}
	description := fields["description"]
	if len(description) == 0 || len(description) > 1024 {
		t.Errorf("the description has %d characters, 1024 are allowed", len(description))
	}
	// A plain YAML scalar must not contain these.
	if strings.Contains(description, ": ") || strings.Contains(description, " #") {
		t.Errorf("the description needs quotes: %q", description)
	}
	for name := range fields {
		if name != "name" && name != "description" {
			t.Errorf("unexpected field %q", name)
		}
	}
}

// Every agent pays for the skill in every session.
func TestSkillIsShort(t *testing.T) {
	if n := len(skillText); n > 5200 {
		t.Errorf("%d bytes", n)
	}
}

func TestSkillTeachesWhatItMust(t *testing.T) {
	for _, word := range []string{
		"your_turn", "not_yet", "takeover_available", "closed", "guardian_pid", "already_owner", "do_not",
		"open_claim", "sequence", "direct_pass", "owner_timeout", "owner_gone", "claim_timeout", "recipient_gone",
		"longest timeout your tool allows", "foreground", "git status", "last one", "longest ago",
		"tt notes list", "tt msg send", "tt msg recv", "tt assign", "tt notes add", "tt events --follow", "tt release", "tt leave", "tt take --reason", "tt close --reason", "--operator-requested",
	} {
		if !strings.Contains(skillText, word) {
			t.Errorf("nothing about %q", word)
		}
	}
}

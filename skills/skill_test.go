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

func TestSkillIsShort(t *testing.T) {
	if n := len(strings.Fields(skillText)); n >= 1500 {
		t.Errorf("%d words", n)
	}
	if len(skillText) > 24000 {
		t.Errorf("%d bytes; Antigravity loads only the first 24000", len(skillText))
	}
}

func TestSkillTeachesWhatItMust(t *testing.T) {
	for _, word := range []string{
		"your_turn", "not_yet", "takeover_available", "closed", "guardian_pid", "already_owner", "do_not",
		"tt notes list", "tt msg send", "tt notes add", "tt events --follow", "tt release", "tt leave", "tt take --reason", "--operator-requested",
	} {
		if !strings.Contains(skillText, word) {
			t.Errorf("nothing about %q", word)
		}
	}
}

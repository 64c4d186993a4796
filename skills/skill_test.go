package skills

import (
	"strings"
	"testing"
)

// The front matter as https://agentskills.io defines it.
func TestSkillFrontMatter(t *testing.T) {
	t.Parallel()
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

func TestSkillTeachesWhatItMust(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"your_turn", "not_yet", "takeover_available", "closed", "stale_lease", "turn_mismatch", "missed", "unread",
		"ended job", "before a handoff", "work that was recorded", "9m fits a tool limit of 600 s", "unread_answers", "do_not", "tt leave", "tt help agents", "tt instructions show",
		"tt wait", "tt release", "tt assign", "tt close --reason", "tt lock run", "tt ask", "tt answer", "tt inbox", "tt msg send", "tt notes add", "tt notes resolve",
	} {
		if !strings.Contains(skillText, word) {
			t.Errorf("nothing about %q", word)
		}
	}
	if strings.Contains(skillText, "opens the room again") {
		t.Error("a wait opens no room that was closed")
	}
}

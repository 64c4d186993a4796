package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newer makes the data directory one of a newer version.
func (s *stage) newer() {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "format"), []byte("9\n"), 0o600); err != nil {
		s.Fatal(err)
	}
}

// A directory that the rooms of tt share is not helped by a wipe, so that
// nothing says it would, and nothing is deleted.
func TestWipeOfANewerDirectory(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	p := s.peer()
	p.made("pink")
	s.newer()
	mentions(t, p.refused("DB_SCHEMA_MISMATCH", "topic_list", `{}`).text, "update agent-bus", "agent-bus cli db wipe")
	if err := os.Mkdir(filepath.Join(s.dir, "rooms"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := p.refused("DB_SCHEMA_MISMATCH", "topic_list", `{}`)
	mentions(t, r.text, "update agent-bus", "AGENT_BUS_DATA_DIR", "would not help")
	status, _, errs := s.cli("", "cli", "db", "wipe", "--yes")
	equal(t, "status", status, 1)
	mentions(t, errs, "DB_SCHEMA_MISMATCH", "would not help")
	if left, err := os.ReadDir(filepath.Join(s.dir, "topics")); err != nil || len(left) == 0 {
		t.Errorf("the topics are gone: %v", err)
	}
}

func TestWipeAsks(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	s.peer().made("pink")
	status, _, errs := s.cli("no\n", "cli", "db", "wipe")
	equal(t, "status", status, 1)
	mentions(t, errs, " with 1 topic for good?", "DECLINED")
	s.peer().made("blue")
	_, _, errs = s.cli("", "cli", "db", "wipe")
	mentions(t, errs, " with 2 topics for good?")
	status, _, _ = s.cli("yes\n", "cli", "db", "wipe")
	equal(t, "status", status, 0)
}

// The results for a harness are JSON without --json, as those of tt.
func TestAHarnessGetsJSON(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	q := red.asks()
	cat.answers(q)
	red.asks()
	s.env["CLAUDECODE"] = "1"
	_, out, _ := s.cli("", "cli", "export", "pink")
	var exported struct {
		Name      string
		Questions []struct {
			Text    string `json:"question"`
			Answers []struct {
				By       string `json:"answered_by"`
				Markdown string `json:"answer_markdown"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &exported); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first := exported.Questions[0]
	equal(t, "answer", []string{exported.Name, first.Text, first.Answers[0].By, first.Answers[0].Markdown}, []string{"pink", "why?", "cat", "because"})
	equal(t, "no answers", len(exported.Questions[1].Answers), 0)
	s.damage()
	_, out, errs := s.cli("", "cli", "topics", "list")
	mentions(t, out, `{"topics":[],"total":0,"warnings":[{"code":"TOPIC_DAMAGED"`, s.id)
	equal(t, "on standard error", errs, "")
}

// What follows an answer that leaves a code block open is no part of the block.
func TestExportClosesCodeBlocks(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	q := s.as("red").asks()
	s.as("cat").ok("answer", s.responses(strings.Replace(item(q, "", ""), "because", "```\\nopen", 1)))
	_, out, _ := s.cli("", "cli", "export", "pink")
	mentions(t, out, "```\nopen\n```\n\nSuggested")
}

func TestOneNameOfSeveralTopics(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	p := s.peer()
	first := p.made("pink")
	second := p.made("pink")
	p.ok("topic_close", f(`{"topic_id":%q}`, second))
	_, out, errs := s.cli("", "cli", "topics", "show", "pink")
	mentions(t, out, first)
	mentions(t, errs, "2 topics are named", first)
}

func TestLimitsAreInTheDescriptions(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	s.env["AGENT_BUS_MAX_QUESTION_CHARS"], s.env["AGENT_BUS_MAX_ANSWER_CHARS"], s.env["AGENT_BUS_MAX_PUBLISH_BATCH"] = "5", "6", "7"
	listed, err := s.peer().client.ListTools(s.context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		schema := quoted(tool.InputSchema)
		switch tool.Name {
		case "ask":
			mentions(t, schema, "At most 5 characters")
			equal(t, "size", tool.Meta["anthropic/maxResultSizeChars"], any(500_000.0))
		case "answer":
			mentions(t, schema, "At most 6 characters", "at most 7")
		case "topic_close":
			equal(t, "destructive", *tool.Annotations.DestructiveHint, true)
		}
	}
}

// A session of a harness needs no agent_name; a person's shell does.
func TestTheHarnessNamesTheAgent(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	s.pink()
	args := f(`{"topic_id":%q}`, s.id)
	mentions(t, s.peer().refused("INVALID_ARGUMENT", "topic_join", args).text, "agent_name")
	s.env["CLAUDECODE"], s.env["CLAUDE_CODE_SESSION_ID"] = "1", "4a0c"
	name, _ := s.peer().ok("topic_join", args)["agent_name"].(string)
	if !strings.HasPrefix(name, "claude:") || len(name) != len("claude:")+8 {
		t.Errorf("the name is %q", name)
	}
	equal(t, "from another server", s.peer().ok("topic_join", args)["agent_name"], any(name))
}

func TestNoHome(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	cmd := s.command("cli", "topics", "list")
	cmd.Env = []string{asProgram + "=1"}
	out, _ := cmd.CombinedOutput()
	mentions(t, string(out), "to keep topics in", "HOME", envDataDir)
}

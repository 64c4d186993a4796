package ttcmd

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
)

// asAgent is the environment in which the skill's reader runs its commands.
var asAgent = []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=one"}

// What has to be so before a command of the skill makes sense.
const (
	nothing = ":"
	joined  = "tt join --agent codex:1; tt join"
	holding = joined + "; tt wait"
	expired = `TALKING_STICK_GONE_GRACE=1ms tt wait --agent codex:1 --json |
		sed 's/.*"guardian_pid":\([0-9]*\).*/\1/' | xargs kill -9
		tt join; until tt state --json | grep -q owner_gone; do :; done`
)

// skillCommands are the commands of the skill and of "tt help agents" by how they begin: what goes before,
// and what the answer contains.
var skillCommands = []struct{ begins, before, answer string }{
	{"tt instructions show", nothing, "Working together"},
	{"tt join", nothing, `"agent_id":"claude:`},
	{"tt wait", joined, `"status":"your_turn"`},
	{"tt ask codex:1", joined, `"question_id":`},
	{"tt notes add", holding, `"note_id":`},
	{"tt msg send room", joined, `"event_seq":`},
	{"tt events --follow", joined, `"text":"hello"`},
	{"tt release --stdin", holding, `"status":"released"`},
	{"tt close", holding, `"status":"closed"`},
	{"tt job run test", joined, `"job_id":1`},
	{"tt take --reason", expired, `"revoked_agent_id":"codex:1"`},
	{"tt events --target any", joined, `"event_type":"room_opened"`},
}

// commandsOfSkill returns the shell commands that the skill shows. What follows a line that
// begins one, and begins none, is its standard input.
func commandsOfSkill(t *testing.T) []string {
	text, err := os.ReadFile("../../../skills/talking-stick/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for i, block := range strings.Split(string(text), "\n```") {
		if lines, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			for line := range strings.SplitSeq(lines, "\n") {
				if strings.HasPrefix(line, "tt ") {
					commands = append(commands, line)
				} else {
					commands[len(commands)-1] += "\n" + line
				}
			}
		}
	}
	return commands
}

// commandsOfHelp returns the shell commands of "tt help agents": the paragraphs that are
// indented, where a line with tt begins a command.
func commandsOfHelp() []string {
	var commands []string
	for paragraph := range strings.SplitSeq(program().Page("agents").Long, "\n\n") {
		if !strings.HasPrefix(paragraph, "  tt ") {
			continue
		}
		for line := range strings.Lines(paragraph) {
			line = strings.TrimPrefix(line, "  ")
			if strings.HasPrefix(line, "tt ") {
				commands = append(commands, line)
			} else {
				commands[len(commands)-1] += line
			}
		}
	}
	return commands
}

// Every command in the skill and in "tt help agents" is run, as written, in a room of its own.
func TestSkillCommandsRun(t *testing.T) {
	used := map[string]bool{}
	for _, command := range append(commandsOfSkill(t), commandsOfHelp()...) {
		name, _, _ := strings.Cut(command, "\n")
		t.Run(name, func(t *testing.T) {
			for _, c := range skillCommands {
				if !strings.HasPrefix(command, c.begins) {
					continue
				}
				used[c.begins] = true
				s := newScratch(t, asAgent...)
				s.run(c.before)
				out := answerOf(s, command)
				if !strings.Contains(out, c.answer) {
					t.Errorf("the answer has no %s:\n%s", c.answer, out)
				}
				if strings.HasPrefix(c.begins, "tt job run") {
					s.run("tt job stop 1; tt job wait 1 || true; tt inbox") // its runner writes until its end is told
				}
				if first, _, _ := strings.Cut(out, "\n"); !json.Valid([]byte(first)) && c.begins != "tt instructions show" { // that is a page to read
					t.Errorf("no JSON: %s", out)
				}
				return
			}
			t.Error("no test knows this command")
		})
	}
	for _, c := range skillCommands {
		if !used[c.begins] {
			t.Errorf("nothing shows a command %q any more", c.begins)
		}
	}
}

// answerOf runs the command. One that follows the room is given something to see,
// and is then stopped as a harness stops it.
func answerOf(s *scratch, command string) string {
	if !strings.Contains(command, "--follow") {
		return s.run(`PATH="$PWD/bin:$PATH"; ` + command)
	}
	s.t.Helper()
	cmd := s.command("exec " + command)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		lines <- line
	}()
	var line string
	// A stream starts at the tail, and nobody can see whether it has: so until one
	// message has come through.
	for line == "" {
		s.run("tt msg send room --agent codex:1 hello")
		select {
		case line = <-lines:
		default:
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		s.t.Errorf("stopped with SIGTERM: %v", err)
	}
	return line
}

//go:build unix

package ttcmd

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var wholeNet = flag.Bool("net.whole", false, "TestNet tries every command, and compares the table in docs/ledger.md; with -update it writes that")

// makeNet makes a repository with three kinds of work that is not committed, for each of its ages: lines in a file, a new
// file, a mode.
const makeNet = `git init -q -b main && git config user.name x && git config user.email x@y && mkdir src new && echo base > base.txt
for age in border minute now; do for i in 1 2 3 4 5; do echo "line $i"; done > src/$age.txt; echo "$age" > src/$age.sh; done
printf '#!/bin/sh\nrm -rf src new\n' > clean.sh && printf 'clean:\n\trm -rf src new\n' > Makefile && echo '*.log' > .gitignore
git add -A && git commit -qm 0 && git switch -qc other && for f in src/*; do echo other >> $f; done && git commit -qam 1 && git switch -q main
echo more > more.txt && git add more.txt && git commit -qm 2`

// netWork is work of one age.
const netWork = `echo "work of %[1]s" >> src/%[1]s.txt && echo "new of %[1]s" > new/%[1]s && chmod +x src/%[1]s.sh`

// netAges are the ages of what is lost: there at the border of a turn, written a minute ago, written just now.
var netAges = []string{"border", "minute", "now"}

// netCommands take work away. What is only another content by then is not told from work by --lost.
var netCommands = []string{
	"git reset --hard",
	"git reset --hard HEAD~1",
	"git reset --hard && git clean -fd",
	"git checkout .",
	"git checkout -- src",
	"git checkout -f other",
	"git switch -f other",
	"git restore .",
	"git restore --source=HEAD~1 --staged --worktree .",
	"git clean -fd",
	"git clean -fdx",
	"git stash && git stash drop",
	"git stash -u && git stash clear",
	"git read-tree -u --reset HEAD",
	"git checkout-index -a -f",
	"git rm -rfq src",
	"git rm -rq --cached . && git clean -fdq",
	"git worktree add -qf ../w HEAD && git checkout HEAD -- .",
	"git stash -u && git stash drop && git gc -q --prune=now",
	"git checkout -q other -- src && git checkout -q main -- src",
	"git clean -fdq && git checkout -qf HEAD",
	"rm -rf src new",
	"rm -rf *",
	"rm -rf .git *",
	"rm src/*.txt src/*.sh new/*",
	"find src new -type f -delete",
	"find src new -type f -exec rm {} +",
	"mv src new ../",
	"sh clean.sh",
	"make -s clean",
	"truncate -s 0 src/*.txt src/*.sh new/*",
	"for f in src/* new/*; do : > $f; done",
	"for f in src/* new/*; do cp /dev/null $f; done",
	"for f in src/* new/*; do cp base.txt $f; done",
	"rm -rf src new && git checkout -q -- src",
	"rm -r src new && ln -s /tmp src && ln -s /tmp new",
	"sed -i s/line/LINE/ src/*.txt && sed -i s/of/OF/ new/*",
	"perl -pi -e 's/o/0/' src/*.txt new/*",
	"for f in src/* new/*; do echo gone > $f; done",
	"tar cf ../t.tar src && rm -rf src new && mkdir src && echo x > src/now.txt",
}

// A netActor runs a command, and is asked by hooks before if it has any.
type netActor struct {
	name  string
	begin func(*netWorld) // after what was there at the border was written
	hooks string          // the session whose hook is asked
	ticks bool            // a guardian records by time
}

var netActors = []netActor{
	{"holder, hooks", func(w *netWorld) { w.session("S1", "try") }, "S1", true},
	{"holder, none", func(w *netWorld) { w.tt("a:1", "try") }, "", true},
	{"person", func(*netWorld) {}, "", false},
	{"alone", func(*netWorld) {}, "S1", false},
	{"automatic", func(w *netWorld) {
		w.session("S1", "hook", "session-start", "--harness", "claude-code")
		w.session("S2", "hook", "session-start", "--harness", "claude-code")
	}, "S2", false},
}

// A netWorld is a repository with its data directory.
type netWorld struct {
	*rig
	home string
}

// run runs tt with an environment and returns what it printed.
func (w *netWorld) call(env []string, stdin string, args ...string) string {
	cmd := w.command("", args...)
	cmd.Env = append([]string{"HOME=" + w.home, "USER=tester", "PATH=" + os.Getenv("PATH"), "TALKING_STICK_DATA_DIR=" + w.data, "TALKING_STICK_LEDGER=on",
		"TALKING_STICK_LEDGER_WAIT=1m"}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	out, _ := cmd.Output() // a refusal says nothing, and brings nothing back
	return string(out)
}

func (w *netWorld) tt(agent string, args ...string) string {
	return w.call([]string{"TT_HARNESS_AGENT_ID=" + agent}, "", args...)
}

// session runs tt for a session of Claude Code.
func (w *netWorld) session(id string, args ...string) string {
	payload, _ := json.Marshal(map[string]any{"session_id": id, "cwd": w.workspace, "hook_event_name": "SessionStart", "source": "startup"})
	return w.call(claudeSession(id), string(payload), args...)
}

func claudeSession(id string) []string {
	return []string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=" + id}
}

func (w *netWorld) shell(script string) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = w.workspace, append(os.Environ(), "HOME="+w.home, "GIT_CONFIG_NOSYSTEM=1")
	_ = cmd.Run()
}

// of returns what the work of one age is: contents, modes.
func (w *netWorld) of(age string) string {
	var b strings.Builder
	for _, name := range []string{"src/" + age + ".txt", "src/" + age + ".sh", "new/" + age} {
		data, err := os.ReadFile(filepath.Join(w.workspace, name))
		info, _ := os.Lstat(filepath.Join(w.workspace, name))
		if err != nil || info == nil {
			fmt.Fprintf(&b, "%s: nothing\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s %v: %s\n", name, info.Mode(), data)
	}
	return b.String()
}

// How work comes back.
const (
	netUnharmed = "·"
	netByLost   = "L"
	netByName   = "S"
	netNot      = "–"
)

// cell runs one command for one actor, and says for each age of work how it comes back.
func netCell(t *testing.T, a *netActor, command string) (cell [3]string) {
	w := &netWorld{newRig(t), t.TempDir()}
	if err := os.Remove(filepath.Join(w.workspace, "go.mod")); err != nil {
		t.Fatal(err)
	}
	w.shell(makeNet)
	if a.name == "automatic" {
		if err := os.Mkdir(filepath.Join(w.home, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.tt("human:p", "install", "claude-code", "--no-bus")
	}
	work := func(age string) { w.shell(fmt.Sprintf(netWork, age)) }
	alone := a.name == "alone"
	if alone || a.name == "automatic" {
		work("border")
	} else {
		w.tt("b:1", "try")
		work("border")
		w.tt("b:1", "release", "--status", "s", "--next-action", "n")
	}
	a.begin(w)
	work("minute")
	if a.ticks { // what a guardian does each minute
		var state struct {
			Room struct {
				ID    string `json:"room_id"`
				Turn  int64  `json:"turn_id"`
				Owner string
			}
		}
		if err := json.Unmarshal([]byte(w.tt("human:p", "state", "--json")), &state); err != nil || state.Room.Owner == "" {
			t.Fatalf("nobody holds: %v", err)
		}
		w.tt(state.Room.Owner, "record", state.Room.ID, "--at", "tick", "--turn", fmt.Sprint(state.Room.Turn), "--agent", state.Room.Owner)
	}
	work("now")
	var before [3]string
	for i, age := range netAges {
		before[i] = w.of(age)
	}
	if a.hooks != "" {
		payload, _ := json.Marshal(map[string]any{"session_id": a.hooks, "cwd": w.workspace, "hook_event_name": "PreToolUse", "tool_name": "Bash",
			"tool_input": map[string]string{"command": command}})
		if out := w.call(claudeSession(a.hooks), string(payload), "hook", "shell", "--harness", "claude-code"); strings.Contains(out, `"deny"`) {
			t.Errorf("%s: %s is refused: %s", a.name, command, out)
		}
	}
	w.shell(command)
	back := func(how string) {
		for i, age := range netAges {
			if cell[i] == "" && w.of(age) == before[i] {
				cell[i] = how
			}
		}
	}
	back(netUnharmed)
	w.tt("human:p", "restore", "--lost", "--yes")
	back(netByLost)
	var list snapshotsResult
	_ = json.Unmarshal([]byte(w.tt("human:p", "restore", "--json", "--limit", "100")), &list)
	for _, s := range list.Snapshots {
		if s.Why != "before_restore" && s.Why != "restore" {
			w.tt("human:p", "restore", s.Snapshot, "--exact", "--yes")
			back(netByName)
		}
	}
	back(netByName)
	for i := range cell {
		if cell[i] == "" {
			cell[i] = netNot
		}
	}
	w.tt("human:p", "close", "--reason", "end") // the guardians end
	t.Cleanup(func() {
		for tries := 0; os.RemoveAll(w.data) != nil && tries < 1000; tries++ { // as long as one of them writes
			time.Sleep(5 * time.Millisecond)
		}
	})
	return cell
}

// TestNet takes work of three ages away by many commands, run by those who may, and sees what comes back.
func TestNet(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	commands := netCommands
	if !*wholeNet {
		commands = []string{"git reset --hard && git clean -fd", "sh clean.sh", "rm -rf src new", "sed -i s/line/LINE/ src/*.txt && sed -i s/of/OF/ new/*",
			"rm -r src new && ln -s /tmp src && ln -s /tmp new"}
		if testing.Short() { // one that hooks see, and one that they do not
			commands = commands[:2]
		}
	}
	results := make([][5][3]string, len(commands))
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for i, command := range commands {
			for j := range netActors {
				t.Run(netActors[j].name+": "+command, func(t *testing.T) {
					t.Parallel()
					cell := netCell(t, &netActors[j], command)
					mu.Lock()
					defer mu.Unlock()
					results[i][j] = cell
				})
			}
		}
	})
	byLost := 0
	for i, command := range commands {
		whole := true
		for _, how := range results[i][0] {
			whole = whole && (how == netByLost || how == netUnharmed)
			if how == netNot {
				t.Errorf("%s by a holder with hooks: something does not come back: %q", command, results[i][0])
			}
		}
		if whole {
			byLost++
		}
		unseen := strings.HasPrefix(command, "sh ") || strings.HasPrefix(command, "make ") // no turn is taken for them
		if results[i][4][0] == netNot && !unseen || results[i][1][0] == netNot || results[i][1][1] == netNot {
			t.Errorf("%s: what was there at a border, or a minute ago, does not come back: %q", command, results[i])
		}
	}
	table := netTable(commands, results)
	t.Logf("by --lost alone, for a holder with hooks: %d of %d\n%s", byLost, len(commands), table)
	if !*wholeNet {
		return
	}
	if byLost < 30 {
		t.Errorf("by --lost alone: %d of %d, want 30", byLost, len(commands))
	}
	compareNetPage(t, table)
}

// netTable is the table of docs/ledger.md. Commands of which the same comes back share a row.
func netTable(commands []string, results [][5][3]string) string {
	var b strings.Builder
	b.WriteString("| command |")
	for _, a := range netActors {
		b.WriteString(" " + a.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(netActors)) + "\n")
	var rows []string
	alike := make(map[string][]string)
	for i, command := range commands {
		var row strings.Builder
		for _, cell := range results[i] {
			row.WriteString(" " + strings.Join(cell[:], "") + " |")
		}
		if alike[row.String()] == nil {
			rows = append(rows, row.String())
		}
		alike[row.String()] = append(alike[row.String()], "`"+strings.ReplaceAll(command, "|", `\|`)+"`")
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |%s\n", strings.Join(alike[row], "<br>"), row)
	}
	return b.String()
}

// compareNetPage compares the table with that of the page, or writes it there.
func compareNetPage(t *testing.T, table string) {
	const page, from, to = "../../../docs/ledger.md", "<!-- the table of TestNet -->\n", "<!-- end of the table -->"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(b), from)
	old, tail, ok2 := strings.Cut(rest, to)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	switch {
	case old == table:
	case *update:
		if err := os.WriteFile(page, []byte(head+from+table+to+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another table: run this test with -update", page)
	}
}

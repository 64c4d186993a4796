package ttcmd

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/turn"
)

// The numbers before a release are 40, 100 and 20.
var (
	lockRuns      = flag.Int("trees.locks", 3, "how many commands TestLockOfRepositoryStorm runs from each path")
	treeMessages  = flag.Int("trees.messages", 16, "how many messages TestMessagesBetweenTreesUnderKills sends")
	interruptions = flag.Int("trees.interruptions", 2, "how many turns TestInterruptedNamesEveryChange interrupts")
)

// newTrees returns rigs in the working trees of one repository.
func newTrees(t *testing.T, n int) []*rig {
	first := newRig(t)
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := filepath.Join(first.workspace, ".git")
	write(filepath.Join(git, "HEAD"), "ref: refs/heads/main")
	write(filepath.Join(git, "objects", "x"), "")
	write(filepath.Join(git, "refs", "x"), "")
	all := []*rig{first}
	for i := range n - 1 {
		r := *first
		name := fmt.Sprintf("wt%d", i)
		r.workspace += name
		write(filepath.Join(git, "worktrees", name, "gitdir"), filepath.Join(r.workspace, ".git"))
		write(filepath.Join(git, "worktrees", name, "commondir"), "../..")
		write(filepath.Join(git, "worktrees", name, "HEAD"), "ref: refs/heads/"+name)
		write(filepath.Join(r.workspace, ".git"), "gitdir: "+filepath.Join(git, "worktrees", name))
		all = append(all, &r)
	}
	return all
}

// TestLockOfRepositoryStorm: commands from four paths of one repository never run at once.
func TestLockOfRepositoryStorm(t *testing.T) {
	t.Parallel()
	trees := newTrees(t, 2)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	deep, link := filepath.Join(trees[0].workspace, "deep"), trees[0].workspace+"-link"
	if err := os.Mkdir(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(trees[0].workspace, link); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(t.TempDir(), "inside")
	var wait sync.WaitGroup
	for _, path := range []string{trees[0].workspace, trees[1].workspace, deep, link} {
		wait.Go(func() {
			for range *lockRuns {
				cmd := trees[0].command("a:1", "lock", "run", "s", "--timeout", "5m", "--path", path, "--", sh, "-c", `mkdir "$0" && rmdir "$0"`, inside)
				cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", path, err, out)
				}
			}
		})
	}
	wait.Wait()
}

// killedRun runs tt, and now and then kills it. It returns what was printed.
func (r *rig) killedRun(random *rand.Rand, agent string, args ...string) (out string, killed bool) {
	cmd := r.command(agent, args...)
	var printed bytes.Buffer
	cmd.Stdout = &printed
	if err := cmd.Start(); err != nil {
		r.t.Error(err)
		return "", true
	}
	if random.IntN(3) == 0 {
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
	}
	err := cmd.Wait()
	return printed.String(), err != nil
}

var treeBody = regexp.MustCompile(`m\d+-\d+;`)

// TestMessagesBetweenTreesUnderKills kills those that send by name from tree to tree, and those
// that read: what was sent is stored once, and shown once by readers that were not killed.
func TestMessagesBetweenTreesUnderKills(t *testing.T) {
	t.Parallel()
	trees := newTrees(t, 8)
	agent := func(i int) string { return fmt.Sprintf("a:%d", i) }
	for i, r := range trees {
		if _, err := r.run(agent(i), "join"); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	sent, shown, mayBe := map[string]bool{}, map[string]int{}, map[string]bool{}
	read := func(out string, killed bool) {
		mu.Lock()
		defer mu.Unlock()
		for _, body := range treeBody.FindAllString(out, -1) {
			mayBe[body] = true
			if !killed {
				shown[body]++
			}
		}
	}
	var senders, readers sync.WaitGroup
	over := make(chan struct{})
	for i, r := range trees {
		senders.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for n := range (*treeMessages + len(trees) - 1) / len(trees) {
				body := fmt.Sprintf("m%d-%d;", i, n)
				to := (i + 1 + random.IntN(len(trees)-1)) % len(trees)
				_, killed := r.killedRun(random, agent(i), "msg", "send", agent(to), body)
				mu.Lock()
				sent[body] = !killed
				mu.Unlock()
			}
		})
		readers.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			for {
				select {
				case <-over:
					return
				default:
				}
				out, killed := r.killedRun(random, agent(i), "inbox", "--json")
				read(out, killed)
			}
		})
	}
	senders.Wait()
	close(over)
	readers.Wait()
	for i, r := range trees {
		for range 2 {
			out, err := r.run(agent(i), "inbox", "--json")
			if err != nil {
				t.Fatal(err)
			}
			read(out, false)
		}
	}
	stored := map[string]int{}
	journals, err := filepath.Glob(filepath.Join(trees[0].data, "rooms", "*", "journal.jsonl"))
	if err != nil || len(journals) != len(trees) {
		t.Fatalf("%v, %v", journals, err)
	}
	for _, path := range journals {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if body := treeBody.FindString(line); body != "" && strings.Contains(line, turn.MessageSent) {
				stored[body]++
			}
		}
	}
	for body, told := range sent {
		switch {
		case stored[body] > 1, told && stored[body] == 0:
			t.Errorf("%s is stored %d times", body, stored[body])
		case shown[body] > 1, stored[body] == 1 && !mayBe[body]:
			t.Errorf("%s was shown %d times", body, shown[body])
		}
	}
	t.Logf("%d sent, %d stored", len(sent), len(stored))
}

// TestInterruptedNamesEveryChange interrupts turns that change files at random: who takes over
// is told of each.
func TestInterruptedNamesEveryChange(t *testing.T) {
	t.Parallel()
	for seed := range *interruptions {
		r, random := newRig(t), rand.New(rand.NewPCG(3, uint64(seed)))
		file := func(i int) string { return fmt.Sprintf("d%d/f%d", i%7, i) }
		write := func(i int, text string) {
			path := filepath.Join(r.workspace, file(i))
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		files := 15 * *interruptions
		for i := range files {
			write(i, "before")
		}
		run := func(agent string, args ...string) (string, time.Duration) {
			cmd := r.command(agent, args...)
			cmd.Env = append(cmd.Env, "TALKING_STICK_LEDGER=on", "TALKING_STICK_LEDGER_WAIT=1m", "HOME="+r.data, "PATH="+os.Getenv("PATH"))
			began := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("tt %v: %v: %s", args, err, out)
			}
			return string(out), time.Since(began)
		}
		run("b:1", "join")
		run("a:1", "wait")
		for limit := time.Now().Add(time.Minute); ; {
			if out, _ := run("a:1", "restore", "--json"); strings.Contains(out, `"turn_id":1`) {
				break
			}
			if time.Now().After(limit) {
				t.Fatal("the beginning of the turn is not recorded")
			}
		}
		changed := map[string]bool{}
		for range 1 + random.IntN(30) {
			i := random.IntN(files + files/3)
			if changed[file(i)] = true; i < files && random.IntN(3) == 0 {
				_ = os.Remove(filepath.Join(r.workspace, file(i)))
			} else {
				write(i, fmt.Sprintf("work %d", seed))
			}
		}
		out, took := run("b:1", "take", "--reason", "its limit", "--operator-requested", "--json")
		var res struct {
			Interrupted struct {
				Changed []struct{ Path string }
				Total   int `json:"changed_total"`
			}
		}
		if err := json.Unmarshal([]byte(out), &res); err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Interrupted.Changed {
			if !changed[c.Path] {
				t.Errorf("seed %d: %s has not changed", seed, c.Path)
			}
			delete(changed, c.Path)
		}
		if n := len(res.Interrupted.Changed); len(changed) > 0 || res.Interrupted.Total != n || n == 0 {
			t.Errorf("seed %d: not named %v; %s", seed, changed, out)
		}
		run("b:1", "release", "--status", "s", "--next-action", "n")
		t.Logf("seed %d: %d changes, take %v", seed, res.Interrupted.Total, took)
	}
}

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// The sh blocks of docs/hosts.md run in order in one shell, with the programs as they are
// built. A text block right below one is what it prints, but for numbers.
func TestPageRuns(t *testing.T) {
	server := natstest.Program(t)
	for _, tool := range []string{"bash", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "hosts.md"))
	if err != nil {
		t.Fatal(err)
	}
	const mark = "=== end of block ==="
	script := "exec 2>&1\n"
	var shown []string
	blocks := regexp.MustCompile("(?s)\n```(\\w+)\n(.*?)\n```(?:\n\n```text\n(.*?)\n```)?").FindAllStringSubmatch(string(page), -1)
	for _, block := range blocks {
		if block[1] == "sh" {
			script += block[2] + "\necho '" + mark + "'\n"
			shown = append(shown, block[3])
		}
	}
	bin := buildPrograms(t)
	if err := os.Symlink(server, filepath.Join(bin, "tt-natsd")); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	work, home := filepath.Join(root, "work"), filepath.Join(root, "home")
	for _, dir := range []string{work, home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = work
	cmd.Env = []string{"HOME=" + home, "USER=tester", "TALKING_STICK_LEDGER=off", "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "TALKING_STICK_DISABLE_SKILL_SYNC=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := os.Create(filepath.Join(root, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	cmd.Stdout = output // a file: servers that are left over do not keep it open
	failure := cmd.Start()
	if failure == nil {
		failure = cmd.Wait()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	t.Cleanup(func() { killIn(t, root) })
	b, err := os.ReadFile(output.Name())
	if err != nil {
		t.Fatal(err)
	}
	printed := strings.Split(string(b), mark+"\n")
	if failure != nil || len(printed) != len(shown)+1 {
		t.Fatalf("block %d of %d: %v\n%s", len(printed), len(shown), failure, printed[len(printed)-1])
	}
	numbers := regexp.MustCompile(`\d+(m\d+s|m|s)?`)
	for i, want := range shown {
		got := strings.TrimSpace(numbers.ReplaceAllString(printed[i], "N"))
		if want = strings.TrimSpace(numbers.ReplaceAllString(want, "N")); want != "" && got != want {
			t.Errorf("block %d prints\n%s\nthe page shows\n%s", i+1, printed[i], shown[i])
		}
	}
}

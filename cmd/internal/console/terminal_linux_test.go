package console

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/viewers"
)

// The tests of this file start the built programs on terminals of tmux. "make test-ui"
// runs them; TT_UI_DIR is where the programs are.

// TestMain runs this test binary as a console that fails at the key P, if it was started
// as one.
func TestMain(m *testing.M) {
	if os.Getenv("CONSOLE_FAILS") != "" {
		atUpdate = func(msg tea.Msg) {
			if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "P" {
				panic("a failure that was asked for")
			}
		}
		cli.Execute(&cli.Program{Name: "tt-console", Agents: true, Groups: []cli.Group{{Commands: []*cli.Command{viewers.Console(Run)}}}})
	}
	os.Exit(m.Run())
}

// A stage is a terminal, and a data directory with programs that use it.
type stage struct {
	*testing.T
	bin, home, socket string
	engine            string // the address of an engine; "" for none
}

func newStage(t *testing.T) *stage { t.Helper(); return newStageWith(t, "") }

func newStageWith(t *testing.T, engine string) *stage {
	t.Helper()
	bin := os.Getenv("TT_UI_DIR")
	if bin == "" {
		t.Skip("TT_UI_DIR is not set; make test-ui sets it")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is not installed, and nothing may be left out")
		}
		t.Skip("SKIPPED: TMUX IS NOT INSTALLED, THE CONSOLE WAS TESTED ON NO TERMINAL")
	}
	s := &stage{T: t, bin: bin, home: t.TempDir(), engine: engine}
	s.socket = filepath.Join(s.home, "tmux")
	s.must(os.MkdirAll(filepath.Join(s.home, "src/payments"), 0o755), os.WriteFile(filepath.Join(s.home, "src/payments/go.mod"), nil, 0o644))
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30", "-s", "c", "PS1='$ ' exec sh")
	t.Cleanup(func() {
		_ = s.command("tmux", "-S", s.socket, "kill-server").Run()
		for _, agent := range []string{"claude:1", "codex:1", "human:alex"} { // ends their guardians
			_ = s.command("tt", "leave", "--agent", agent).Run()
		}
	})
	return s
}

func (s *stage) must(errs ...error) {
	s.Helper()
	for _, err := range errs {
		if err != nil {
			s.Fatal(err)
		}
	}
}

// command returns a command in the room of the stage, without the variables of harnesses.
func (s *stage) command(name string, args ...string) *exec.Cmd {
	if name == "tt" {
		name = filepath.Join(s.bin, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(s.home, "src/payments")
	cmd.Env = []string{
		"HOME=" + s.home, "TALKING_STICK_DATA_DIR=" + filepath.Join(s.home, "data"), "PATH=" + s.bin + ":" + os.Getenv("PATH"),
		"USER=alex", "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh",
	}
	if s.engine != "" {
		cmd.Env = append(cmd.Env, "TALKING_STICK_ENGINE="+s.engine, "TALKING_STICK_ROOM=acme/payments")
	}
	return cmd
}

func (s *stage) tmux(args ...string) string {
	s.Helper()
	out, err := s.command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// tt runs a command of an agent. The variables are of its harness.
func (s *stage) tt(line string, variables ...string) string {
	s.Helper()
	cmd := s.command("tt", strings.Fields(line)...)
	cmd.Env = append(cmd.Env, variables...)
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("tt %s: %v", line, err)
	}
	return string(out)
}

// keys types keys by the names that tmux has for them; text is typed as it is.
func (s *stage) keys(names ...string) {
	s.Helper()
	s.tmux(append([]string{"send-keys", "-t", "c"}, names...)...)
}
func (s *stage) text(text string) { s.Helper(); s.tmux("send-keys", "-t", "c", "-l", text) }
func (s *stage) screen() string   { s.Helper(); return s.tmux("capture-pane", "-p", "-t", "c") }

func (s *stage) until(what string, holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("not within a minute: %s\n%s", what, s.screen())
		}
	}
}

func (s *stage) shows(text string) {
	s.Helper()
	s.until(text, func() bool { return strings.Contains(s.screen(), text) })
}

// start types a command that becomes a console, and returns its process.
func (s *stage) start(command string) (pid int) {
	s.Helper()
	file := filepath.Join(s.home, "pid")
	_ = os.Remove(file)
	s.text("clear; sh -c 'echo $$ > " + file + "; exec " + command + "'; echo ended with $?")
	s.keys("Enter")
	s.until("a process", func() bool {
		b, err := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil && pid > 0
	})
	return pid
}

// terminal is the state of the terminal: what stty says, the screen, and the cursor.
func (s *stage) terminal() string {
	s.Helper()
	out, err := s.command("stty", "-a", "-F", strings.TrimSpace(s.tmux("display-message", "-p", "-t", "c", "#{pane_tty}"))).Output()
	s.must(err)
	return string(out) + s.tmux("display-message", "-p", "-t", "c", "alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_cursor_flag}#{keypad_flag}")
}

func TestTerminalShowsRoomsAndSendsMessages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.tt("wait --agent codex:1")
	holder := s.command("sleep", "600")
	s.must(holder.Start())
	defer holder.Process.Kill()
	harness := []string{"CLAUDECODE=1", fmt.Sprintf("CLAUDE_PID=%d", holder.Process.Pid)}
	s.tt("join", harness...)
	s.tt("release --agent codex:1 --status done --next-action review")
	var turn struct {
		Owner string `json:"current_owner"`
	}
	s.tt("wait", harness...)
	s.must(json.Unmarshal([]byte(s.tt("try --json --agent codex:1")), &turn))

	s.start("tt console --agent human:alex")
	s.shows("~/src/payments")
	s.shows("held")
	s.keys("Enter")
	s.shows("Stick " + turn.Owner)
	s.keys("m")
	s.shows("message to the room")
	const body = `use --json "quotes", $(x) and 日本語`
	s.text(body)
	s.shows(body)
	s.keys("Enter")
	s.until("the message in the journal", func() bool {
		var list struct {
			Events []struct {
				From    string `json:"from_agent_id"`
				Payload struct{ Body string }
			}
		}
		s.must(json.Unmarshal([]byte(s.tt("events --json --event message_sent")), &list))
		return len(list.Events) == 1 && list.Events[0].Payload.Body == body && list.Events[0].From == "human:alex"
	})
	s.shows("human:alex → all: use --json")

	s.tmux("resize-window", "-t", "c", "-x", "64", "-y", "16")
	s.until("the small screen", func() bool {
		lines := strings.Split(strings.TrimRight(s.screen(), "\n"), "\n")
		return len(lines) == 16 && strings.Contains(lines[2], "Stick "+turn.Owner) && strings.Contains(lines[15], "q quit")
	})
	s.tmux("resize-window", "-t", "c", "-x", "110", "-y", "30")
	s.shows("│")

	s.must(holder.Process.Signal(syscall.SIGSTOP))
	s.shows(fmt.Sprintf("stopped (pid %d)", holder.Process.Pid))
	s.must(holder.Process.Kill())
	_ = holder.Wait()
	s.shows("owner gone")

	s.keys("t")
	s.shows("take the stick")
	s.text("its terminal was closed")
	s.keys("Enter")
	s.shows("Stick human:alex")
	s.keys("q")
	s.shows("ended with 0")
}

func TestTerminalIsUnharmed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.tt("wait --agent claude:1")
	self, err := os.Executable()
	s.must(err)
	before := s.terminal()
	if !strings.Contains(before, "alternate 0 cursor 1") {
		t.Fatal(before)
	}
	for _, c := range []struct {
		name, command string
		end           func(pid int)
		status        int
	}{
		{"q", "tt console", func(int) { s.keys("q") }, 0},
		{"ctrl-c", "tt console", func(int) { s.keys("C-c") }, 0},
		{"TERM", "tt console", func(pid int) { s.must(syscall.Kill(pid, syscall.SIGTERM)) }, 143},
		{"INT", "tt console", func(pid int) { s.must(syscall.Kill(pid, syscall.SIGINT)) }, 130},
		{"HUP", "tt console", func(pid int) { s.must(syscall.Kill(pid, syscall.SIGHUP)) }, 129},
		{"QUIT", "tt console", func(pid int) { s.must(syscall.Kill(pid, syscall.SIGQUIT)) }, 131},
		{"TERM in a dialog", "tt console .", func(pid int) {
			s.keys("m")
			s.shows("message to")
			s.must(syscall.Kill(pid, syscall.SIGTERM))
		}, 143},
		{"panic", "env CONSOLE_FAILS=1 " + self + " console", func(int) { s.keys("P") }, 1},
	} {
		pid := s.start(c.command)
		s.shows("q quit")
		if during := s.terminal(); !strings.Contains(during, "alternate 1") {
			t.Errorf("%s: the console is not on the alternate screen", c.name)
		}
		c.end(pid)
		if c.status == 130 { // the shell leaves the line, too
			s.until("the prompt", func() bool {
				return strings.HasSuffix(strings.TrimSpace(s.screen()), "$") && syscall.Kill(pid, 0) != nil
			})
		} else {
			s.shows(fmt.Sprintf("ended with %d", c.status))
		}
		if after := s.terminal(); after != before {
			t.Errorf("%s: the terminal was\n%s\nand is\n%s", c.name, before, after)
		}
	}
}

// A console whose terminal is gone ends.
func TestTerminalThatGoesAway(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	pid := s.start("tt console")
	s.shows("No rooms yet")
	s.tmux("kill-server")
	deadline := time.Now().Add(time.Minute)
	for syscall.Kill(pid, 0) == nil {
		if time.Now().After(deadline) {
			t.Fatal("it lives on")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestTerminalNeeded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	out, err := s.command("tt", "console").CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "terminal") {
		t.Errorf("%v: %s", err, out)
	}
}

// An idle console costs less than one hundredth of a processor.
func TestTerminalIdle(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.tt("wait --agent claude:1")
	for i := range 20 {
		dir := filepath.Join(s.home, "src", fmt.Sprint("room", i))
		s.must(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644))
		s.tt("join --agent codex:1 --path " + dir)
	}
	pid := s.start("tt console .")
	s.shows("Stick claude:1")
	const seconds, ticksPerSecond, most = 10, 100, 10
	before := ticks(t, pid)
	time.Sleep(seconds * time.Second) // this is what is measured
	if used := ticks(t, pid) - before; used > most {
		t.Errorf("%d ticks of a processor in %d s, of %d", used, seconds, seconds*ticksPerSecond)
	} else {
		t.Logf("%d ticks in %d s", used, seconds)
	}
}

func ticks(t *testing.T, pid int) (sum int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	for _, f := range fields[11:13] { // utime, stime
		n, _ := strconv.Atoi(f)
		sum += n
	}
	return sum
}

// The first frame is there in less time than tt needs to start and end twelve times, in the
// fastest of some starts of both.
func TestTerminalFirstFrame(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.tt("wait --agent claude:1")
	frame, start := time.Hour, time.Hour
	for range 20 {
		frame = min(frame, s.firstFrame())
		began := time.Now()
		s.must(s.command("tt", "version").Run())
		start = min(start, time.Since(began))
	}
	t.Logf("the first frame after %v; tt version: %v", frame, start)
	if frame > 12*start {
		t.Errorf("the first frame after %v; tt version takes %v", frame, start)
	}
}

// firstFrame starts tt-console on a terminal of its own and returns the time until the
// list of rooms is on it.
func (s *stage) firstFrame() time.Duration {
	s.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	s.must(err)
	defer master.Close()
	s.must(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 110}))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	s.must(err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	s.must(err)
	cmd := s.command("tt", "console")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	start := time.Now()
	s.must(cmd.Start())
	slave.Close()
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop() // reading then fails
	room := regexp.MustCompile(`src/payments`)
	var got []byte
	buf := make([]byte, 1<<16)
	for !room.Match(got) {
		n, err := master.Read(buf)
		s.must(err)
		got = append(got, buf[:n]...)
	}
	return time.Since(start)
}

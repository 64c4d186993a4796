//go:build linux

package reach

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal runs a program as a terminal emulator does. It answers the questions that
// programs ask about it, and keeps what they have shown.
type terminal struct {
	t       *testing.T
	process *os.Process
	ours    *os.File
	done    chan struct{} // closed when the program has ended

	mu    sync.Mutex
	shown []byte
}

func startTerminal(t *testing.T, dir string, env []string, name string, args ...string) *terminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 180}))
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	defer theirs.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	x := &terminal{t: t, process: cmd.Process, ours: ours, done: make(chan struct{})}
	go x.read()
	go func() {
		_ = cmd.Wait()
		close(x.done)
	}()
	t.Cleanup(x.end)
	return x
}

// end hangs up, and kills the program if that does not end it.
func (x *terminal) end() {
	_ = syscall.Kill(-x.process.Pid, syscall.SIGHUP)
	select {
	case <-x.done:
	case <-time.After(5 * time.Second):
		x.kill()
	}
	x.ours.Close()
}

func (x *terminal) kill() {
	_ = syscall.Kill(-x.process.Pid, syscall.SIGKILL)
	<-x.done
}

// answers are what a terminal says when a program asks where the cursor is, what kind of
// terminal it is, and what its colours are.
var answers = map[string]string{
	"\x1b[6n":       "\x1b[1;1R",
	"\x1b[c":        "\x1b[?62;22c",
	"\x1b[0c":       "\x1b[?62;22c",
	"\x1b[>c":       "\x1b[>0;276;0c",
	"\x1b[?u":       "\x1b[?0u",
	"\x1b]10;?\x1b": "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
	"\x1b]11;?\x1b": "\x1b]11;rgb:0000/0000/0000\x1b\\",
	"\x1b]10;?\a":   "\x1b]10;rgb:ffff/ffff/ffff\a",
	"\x1b]11;?\a":   "\x1b]11;rgb:0000/0000/0000\a",
}

func (x *terminal) read() {
	piece := make([]byte, 64<<10)
	for {
		n, err := x.ours.Read(piece)
		if err != nil {
			return
		}
		for question, answer := range answers {
			for range bytes.Count(piece[:n], []byte(question)) {
				_, _ = x.ours.WriteString(answer)
			}
		}
		x.mu.Lock()
		x.shown = append(x.shown, piece[:n]...)
		x.mu.Unlock()
	}
}

var escapes = regexp.MustCompile("\x1b(\\[[0-9;?<>=!]*[ -/]*[@-~]|\\][^\a\x1b]*(\a|\x1b\\\\)|[PX^_][^\x1b]*\x1b\\\\|[()][A-Z0-9]|[=>78MDEHc])")

// screen returns what was shown so far without the escape sequences and without blanks,
// since programs move the cursor instead of writing blanks.
func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(strings.Fields(escapes.ReplaceAllString(string(x.shown), " ")), "")
}

// await waits until the program has shown one of the texts, which have no blanks, and
// returns it. What was shown before the mark does not count.
func (x *terminal) await(mark int, limit time.Duration, texts ...string) string {
	x.t.Helper()
	for start := time.Now(); time.Since(start) < limit; time.Sleep(50 * time.Millisecond) {
		screen := x.screen()
		for _, text := range texts {
			if strings.Contains(screen[min(mark, len(screen)):], text) {
				return text
			}
		}
		select {
		case <-x.done:
			x.t.Fatalf("the program has ended; it showed\n%s", tail(screen))
		default:
		}
	}
	x.t.Fatalf("%q was not shown, but\n%s", texts, tail(x.screen()))
	return ""
}

func tail(text string) string { return text[max(0, len(text)-3000):] }

// keys types keys as they are.
func (x *terminal) keys(keys string) {
	_, _ = x.ours.WriteString(keys)
}

// enter types a line. Programs take what comes at once for a paste, and a line break in
// it for a part of that.
func (x *terminal) enter(line string) {
	x.keys(line)
	time.Sleep(500 * time.Millisecond)
	x.keys("\r")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

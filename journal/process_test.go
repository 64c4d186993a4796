package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal/event"
)

// writerVariable makes the test binary a writer: it appends to the journal named
// there until it is killed or has written writerChanges.
const (
	writerVariable = "JOURNAL_TEST_WRITER"
	writerChanges  = 400
)

func TestMain(m *testing.M) {
	path := os.Getenv(writerVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := writeChanges(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// variedChange gives change number n: one to three lines, some longer than a page.
// Lines of one change say its number and how many they are.
func variedChange(after int64, n int) []event.Event {
	events := make([]event.Event, 1+n%3)
	for i := range events {
		events[i] = sample(after + int64(i) + 1)
		events[i].Turn = int64(n)
		events[i].Reason = strings.Repeat("é", (n*37)%5000)
	}
	return events
}

// writeChanges acknowledges each change on stdout once Append has returned.
func writeChanges(path string) error {
	l, err := OpenWriter(path)
	if err != nil {
		return err
	}
	var at Position
	for n := range writerChanges {
		if at, err = l.Append(at, variedChange(at.Seq, n), nil); err != nil {
			return err
		}
		fmt.Println(at.Seq)
	}
	return l.Close()
}

// startWriter returns the running writer and its acknowledgements.
func startWriter(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerVariable+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// checkWhole scans on from pos and checks that only whole changes come.
func checkWhole(t *testing.T, l *Log, pos Position) Position {
	t.Helper()
	var change []event.Event
	at, _, err := l.Scan(pos, func(e *event.Event, _ int64) error {
		change = append(change, e.Clone())
		if e.More {
			return nil
		}
		if n := len(variedChange(0, int(e.Turn))); len(change) != n || change[0].Turn != e.Turn {
			t.Errorf("change %d came with %d events instead of %d", e.Turn, len(change), n)
		}
		change = change[:0]
		return nil
	})
	if err != nil || len(change) > 0 {
		t.Fatalf("%d events of an unfinished change, %v", len(change), err)
	}
	return at
}

// TestReaderNeverSeesHalfAChange reads as fast as it can while another process writes.
func TestReaderNeverSeesHalfAChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	cmd, acks := startWriter(t, path)
	if !acks.Scan() { // the file exists from here on
		t.Fatal("the writer wrote nothing")
	}
	done := make(chan error, 1)
	go func() {
		for acks.Scan() {
		}
		done <- cmd.Wait()
	}()
	l := openLog(t, path)
	var pos Position
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		pos = checkWhole(t, l, pos)
		last, _, err := l.Last()
		if err != nil || last.Seq < pos.Seq {
			t.Fatalf("Last %v after a scan to %v: %v", last, pos, err)
		}
		if found, err := l.Find(pos.Seq); err != nil || found.Seq != pos.Seq-1 {
			t.Fatalf("Find(%d) = %v, %v", pos.Seq, found, err)
		}
	}
	if last := checkWhole(t, l, Position{}); last != pos || pos.Seq < writerChanges {
		t.Fatalf("read up to %v on the way, %v afterwards", pos, last)
	}
}

// TestKilledWriterLosesNothingAcknowledged kills a writer after so many
// acknowledgements, at whatever point it has reached, and goes on in its place.
func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	for _, kill := range []int{1, 2, 10, 40, 100} {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		cmd, acks := startWriter(t, path)
		var acked int64
		for range kill {
			if acks.Scan(); acks.Err() != nil {
				t.Fatal(acks.Err())
			}
			if _, err := fmt.Sscan(acks.Text(), &acked); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Process.Kill()
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		goOn(t, path, acked)
	}
}

func goOn(t *testing.T, path string, acked int64) {
	t.Helper()
	l, err := OpenWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pos := checkWhole(t, l, Position{})
	if last, _, err := l.Last(); err != nil || last != pos || pos.Seq < acked {
		t.Fatalf("Last %v, Scan %v, acknowledged %d: %v", last, pos, acked, err)
	}
	if err := l.Cut(pos); err != nil {
		t.Fatal(err)
	}
	if pos, err = l.Append(pos, variedChange(pos.Seq, 5), nil); err != nil {
		t.Fatal(err)
	}
	if again := checkWhole(t, l, Position{}); again != pos {
		t.Fatalf("%v after the append, want %v", again, pos)
	}
}

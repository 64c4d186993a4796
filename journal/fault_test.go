package journal

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// A failingFile fails the nth of its reads and stats.
type failingFile struct {
	fakeFile
	calls, failAt int
}

func (f *failingFile) fail() error {
	if f.calls++; f.calls == f.failAt {
		return syscall.EIO
	}
	return nil
}

func (f *failingFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.fakeFile.ReadAt(b, off)
}

func (f *failingFile) Stat() (int64, time.Time, error) {
	if err := f.fail(); err != nil {
		return 0, time.Time{}, err
	}
	return f.fakeFile.Stat()
}

// TestEveryFailedReadIsReported fails the first read or stat of an operation, then
// the second, and so on until none is left: never may it pass for damage, for
// a torn tail, or for the end.
func TestEveryFailedReadIsReported(t *testing.T) {
	data := append(change(1, 400), change(401, 1)...)
	lost := append(append([]byte{}, data...), "{\x00}\n"...)
	broken := append(append([]byte{}, data...), "{}\n"...)
	first := Position{int64(strings.IndexByte(string(data), '\n') + 1), 1}
	scan := func(l *Log) error {
		_, _, err := l.Scan(first, func(*event.Event, int64) error { return nil })
		return err
	}
	operations := map[string]struct {
		data []byte
		run  func(l *Log) error
	}{
		"Scan":             {data, scan},
		"Scan a lost page": {lost, scan},
		"Scan damage":      {broken, scan},
		"Last":             {data[:len(data)-5], func(l *Log) error { _, _, err := l.Last(); return err }},
		"Find":             {data, func(l *Log) error { _, err := l.Find(200); return err }},
		"First":            {data, func(l *Log) error { _, err := l.First(); return err }},
		"Append":           {nil, func(l *Log) error { _, err := l.Append(Position{}, samples(1), nil); return err }},
		"Cut":              {data, func(l *Log) error { return l.Cut(first) }},
	}
	for name, op := range operations {
		for n, fired := 1, true; fired; n++ {
			f := &failingFile{fakeFile: fakeFile{data: append([]byte{}, op.data...)}, failAt: n}
			err := op.run(New("j", f))
			if fired = f.calls >= n; fired && !errors.Is(err, syscall.EIO) {
				t.Errorf("%s, failure %d: %v", name, n, err)
			}
			if fired && (f.writes > 0 || len(f.data) != len(op.data)) {
				t.Errorf("%s, failure %d: wrote all the same", name, n)
			}
		}
	}
}

// TestReaderThatMakesNoProgress: a file that breaks the rules of io.ReaderAt.
func TestReaderThatMakesNoProgress(t *testing.T) {
	_, err := newLineReader(idleReader{}, 0, leastRead).next()
	if !errors.Is(err, io.ErrNoProgress) {
		t.Fatal(err)
	}
}

type idleReader struct{}

func (idleReader) ReadAt([]byte, int64) (int, error) { return 0, nil }

func TestErrorsReadWell(t *testing.T) {
	tests := map[string]error{
		"append undone: no space left on device":   &AppendError{syscall.ENOSPC, true},
		"append in doubt: no space left on device": &AppendError{syscall.ENOSPC, false},
		"rooms/a/journal.jsonl:7: blank line":      &CorruptError{"rooms/a/journal.jsonl", 7, 99, "blank line"},
	}
	for want, err := range tests {
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// randomJournal draws a journal whose line lengths differ wildly, with changes of
// several lines and perhaps a torn one, and gives the position before each event.
func randomJournal(t *rapid.T) (data []byte, before []Position, end Position) {
	seq := rapid.Int64Range(1, 50).Draw(t, "first")
	for range rapid.IntRange(0, 12).Draw(t, "changes") {
		n := rapid.IntRange(1, 4).Draw(t, "lines")
		for i := range n {
			before = append(before, Position{int64(len(data)), seq - 1})
			data = append(data, randomLine(t, seq, i < n-1)...)
			seq++
		}
		end = Position{int64(len(data)), seq - 1}
	}
	if rapid.Bool().Draw(t, "torn") {
		data = append(data, randomLine(t, seq, true)...)
		data = append(data, randomLine(t, seq+1, false)[:15]...)
	}
	return data, before, end
}

func randomLine(t *rapid.T, seq int64, more bool) []byte {
	length := 1 << rapid.IntRange(0, 14).Draw(t, "length")
	if length == 1<<14 {
		length = 100_000
	}
	e := event.Event{Seq: seq, Type: "t", More: more, Reason: strings.Repeat("é\"\n", length/6)}
	if length > 8 {
		return e.Append(nil)
	}
	return fmt.Appendf(nil, "{\"event_type\":\"t\",\"event_seq\":%d,\"more\":%v}\n", seq, more) // as short as lines get
}

func TestFindAgainstLinearSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, before, end := randomJournal(t)
		l := New("j", &fakeFile{data: data})
		if last, tail, err := l.Last(); err != nil || last != end || tail.Torn != int64(len(data))-end.Offset {
			t.Fatalf("Last: %v %v %v, want %v", last, tail, err, end)
		}
		if len(before) == 0 {
			return
		}
		first := before[0].Seq + 1
		some := rapid.SliceOfN(rapid.Int64Range(first, end.Seq), 3, 3).Draw(t, "seqs")
		for _, seq := range append(some, first-2, first, first+1, end.Seq-1, end.Seq, end.Seq+1, end.Seq+3) {
			want := end
			if seq <= first {
				want = Position{}
			} else if seq <= end.Seq {
				want = before[seq-first]
			}
			checkFind(t, l, seq, max(seq, first), want, end)
		}
	})
}

// checkFind compares Find's position, and that a Scan from there starts with next.
func checkFind(t *rapid.T, l *Log, seq, next int64, want, end Position) {
	pos, err := l.Find(seq)
	if err != nil || pos != want {
		t.Fatalf("Find(%d) = %v, %v; want %v", seq, pos, err, want)
	}
	stop := errors.New("stop")
	got := end.Seq + 1
	_, _, err = l.Scan(pos, func(e *event.Event, _ int64) error { got = e.Seq; return stop })
	if err != nil && err != stop {
		t.Fatal(err)
	}
	if got != min(next, end.Seq+1) {
		t.Fatalf("scan from Find(%d) starts with %d", seq, got)
	}
}

// TestFindReadsLittle bounds the work: a few reads and one for each doubling of the file.
func TestFindReadsLittle(t *testing.T) {
	data := bytes.Join([][]byte{change(1, 20_000), change(20_001, 1)}, nil)
	f := &countingFile{fakeFile: fakeFile{data: data}}
	l := New("j", f)
	for seq := int64(1); seq <= 20_001; seq += 997 {
		f.reads = 0
		end := bits.Len(uint(len(data)/findWindow)) + 8
		if pos, err := l.Find(seq); err != nil || pos.Seq != seq-1 || f.reads > end {
			t.Fatalf("Find(%d) = %v, %v with %d reads, at most %d expected", seq, pos, err, f.reads, end)
		}
	}
}

func TestLastReadsOnlyTheEnd(t *testing.T) {
	data := bytes.Join([][]byte{[]byte("garbage\n"), change(9, 1), bytes.Repeat([]byte("x\n"), 1<<20), change(10, 1)}, nil)
	f := &countingFile{fakeFile: fakeFile{data: data}}
	pos, _, err := New("j", f).Last()
	if err != nil || pos != (Position{int64(len(data)), 10}) || f.reads > 3 || f.largest > tailWindow {
		t.Fatal(pos, err, f.reads, f.largest)
	}
}

func TestLastDamage(t *testing.T) {
	more := change(3, 2)
	more = more[:bytes.IndexByte(more, '\n')+1] // an unfinished change, whose predecessor matters
	tests := []struct {
		name    string
		data    []byte
		problem string
		line    int
	}{
		{"last line", append(change(1, 2), "garbage\n"...), "expected", 3},
		{"before an unfinished change", bytes.Join([][]byte{change(1, 1), []byte("x\n"), more}, nil), "expected", 2},
		{"gap before an unfinished change", append(change(1, 1), more...), "event_seq 3 follows 1", 2},
		{"lost page, then a fragment", append(change(1, 1), "{\x00}\n{"...), "expected", 2},
		{"too long", append(change(1, 1), append(bytes.Repeat([]byte(" "), MaxLine), '\n')...), "longer than", 2},
		{"too long without newline", append(change(1, 1), bytes.Repeat([]byte(" "), MaxLine+5)...), "longer than", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New("j", &fakeFile{data: tt.data})
			_, _, last := l.Last()
			_, find := l.Find(2)
			_, _, scan := l.Scan(Position{}, func(*event.Event, int64) error { return nil })
			var want *CorruptError
			if !errors.As(scan, &want) || want.Line != tt.line || !strings.Contains(want.Problem, tt.problem) {
				t.Fatalf("Scan: %v", scan)
			}
			for _, err := range []error{last, find} {
				var bad *CorruptError
				if !errors.As(err, &bad) || *bad != *want {
					t.Fatalf("%#v, Scan says %#v", bad, want)
				}
			}
		})
	}
}

func TestFindMeetsDamage(t *testing.T) {
	garbage := bytes.Repeat([]byte("garbage garbage garbage\n"), 100)
	long := append(bytes.Repeat([]byte(" "), MaxLine), '\n')
	tests := []struct {
		name  string
		parts [][]byte
		seq   int64
		line  int
	}{
		{"garbage", [][]byte{change(1, 1), garbage, change(2, 1)}, 2, 2},
		{"garbage first", [][]byte{garbage, change(2, 1)}, 2, 1},
		{"a gap", [][]byte{change(1, 1), change(3, 1)}, 2, 2},
		{"too long where a probe falls", [][]byte{change(1, 1), long, change(2, 1)}, 2, 2},
		{"too long after it", [][]byte{wide(1), wide(2), long, change(3, 1)}, 3, 3},
	}
	for _, tt := range tests {
		data := bytes.Join(tt.parts, nil)
		_, err := New("j", &fakeFile{data: data}).Find(tt.seq)
		var bad *CorruptError
		if !errors.As(err, &bad) || bad.Line != tt.line {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if 1+bytes.Count(data[:bad.Offset], []byte("\n")) != tt.line || bad.Offset > 0 && data[bad.Offset-1] != '\n' {
			t.Fatalf("%s: %#v", tt.name, bad)
		}
	}
}

// wide gives a line of nearly the greatest length.
func wide(seq int64) []byte {
	e := sample(seq)
	e.Reason = strings.Repeat("x", MaxLine-1000)
	return e.Append(nil)
}

// TestLastGivesUp: a file without newlines is not read whole to say so.
func TestLastGivesUp(t *testing.T) {
	f := &countingFile{fakeFile: fakeFile{data: bytes.Repeat([]byte("x"), 8*MaxLine)}}
	var bad *CorruptError
	if _, _, err := New("j", f).last(); !errors.As(err, &bad) || bad.Line != 1 || bad.Offset != 0 {
		t.Fatal(err)
	}
	if f.largest > MaxLine {
		t.Fatalf("read %d bytes at once", f.largest)
	}
}

// TestLastMeetsAWriterThatCuts: the file shrinks between the stat and the read.
func TestLastMeetsAWriterThatCuts(t *testing.T) {
	whole := change(1, 2)
	f := &fakeFile{data: append(bytes.Clone(whole), change(3, 1)[:100]...)}
	f.beforeNextReads = []func(){func() { f.data = whole }}
	checkScanLast(t, New("j", f), Position{int64(len(whole)), 2})
}

func checkScanLast(t *testing.T, l *Log, want Position) {
	t.Helper()
	if pos, tail, err := l.Last(); err != nil || pos != want || tail.Torn != 0 {
		t.Fatal(pos, tail, err)
	}
}

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal/event"
)

// checkScan scans from a position and compares all there is to compare; a scan
// from the start must also agree with Last.
func checkScan(t *testing.T, l *Log, from Position, seqs []int64, pos Position, torn int64) {
	t.Helper()
	var got []int64
	end := from.Offset
	at, tail, err := l.Scan(from, func(e *event.Event, after int64) error {
		if after <= end {
			t.Errorf("event %d ends at %d, the one before at %d", e.Seq, after, end)
		}
		end = after
		got = append(got, e.Seq)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(seqs) || at != pos || tail.Torn != torn {
		t.Fatalf("events %v to %v, torn %d; want %v to %v, torn %d", got, at, tail.Torn, seqs, pos, torn)
	}
	if from != (Position{}) {
		return
	}
	last, tail, err := l.Last()
	if err != nil || last != pos || tail.Torn != torn {
		t.Fatalf("Last: %v, torn %d, %v; want %v, torn %d", last, tail.Torn, err, pos, torn)
	}
}

// change gives the lines of one change.
func change(first int64, n int) []byte {
	var b []byte
	for i := range n {
		e := sample(first + int64(i))
		e.More = i < n-1
		b = e.Append(b)
	}
	return b
}

func TestScanEmpty(t *testing.T) {
	l := openLog(t, writeBytes(t, nil))
	checkScan(t, l, Position{}, nil, Position{}, 0)
	if _, err := l.First(); !errors.Is(err, ErrEmpty) {
		t.Fatalf("First: %v", err)
	}
	for _, seq := range []int64{-1, 0, 1, 5} {
		if pos, err := l.Find(seq); err != nil || pos != (Position{}) {
			t.Fatal(seq, pos, err)
		}
	}
}

func TestScanStartsAnywhere(t *testing.T) {
	for _, first := range []int64{1, 2, 900, math.MaxInt64 - 2} {
		b := append(change(first, 1), change(first+1, 2)...)
		l := openLog(t, writeBytes(t, b))
		checkScan(t, l, Position{}, []int64{first, first + 1, first + 2}, Position{int64(len(b)), first + 2}, 0)
		if e, err := l.First(); err != nil || e.Seq != first {
			t.Fatal(e, err)
		}
	}
}

// TestScanTornAtEveryByte cuts the last change, of one to three lines, at every byte.
func TestScanTornAtEveryByte(t *testing.T) {
	for lines := 1; lines <= 3; lines++ {
		for _, before := range [][]byte{nil, change(1, 1), append(change(1, 1), change(2, 3)...)} {
			seqs, whole := numbers(bytes.Count(before, []byte("\n"))), int64(len(before))
			last := change(int64(len(seqs))+1, lines)
			for n := range len(last) {
				l := New("j", &fakeFile{data: append(bytes.Clone(before), last[:n]...)})
				checkScan(t, l, Position{}, seqs, Position{whole, int64(len(seqs))}, int64(n))
			}
		}
	}
}

// TestScanLostPages replaces bytes of the last change by NULs, as a power cut may:
// wherever they lie, none of the change counts.
func TestScanLostPages(t *testing.T) {
	for lines := 1; lines <= 3; lines++ {
		for _, before := range [][]byte{nil, change(1, 2)} {
			n := bytes.Count(before, []byte("\n"))
			last := change(int64(n)+1, lines)
			lose(last, func(lost []byte) {
				l := New("j", &fakeFile{data: append(bytes.Clone(before), lost...)})
				l.SetCommitted(func() int64 { return int64(len(before)) })
				checkScan(t, l, Position{}, numbers(n), Position{int64(len(before)), int64(n)}, int64(len(lost)))
			})
		}
	}
}

// TestScanLostPagesThenAFragment: the end of the change is missing, besides.
func TestScanLostPagesThenAFragment(t *testing.T) {
	before, last := change(1, 1), change(2, 3)
	second := bytes.IndexByte(last, '\n') + 1
	for _, at := range []int{0, 50, second, second + 50} {
		for n := at + 1; n < len(last); n++ {
			b := append(bytes.Clone(before), last[:n]...)
			b[len(before)+at] = 0
			l := New("j", &fakeFile{data: b})
			l.SetCommitted(func() int64 { return int64(len(before)) })
			checkScan(t, l, Position{}, numbers(1), Position{int64(len(before)), 1}, int64(n))
		}
	}
}

// lose calls fn with copies of b in which pages of several sizes are NUL, starting
// at every byte.
func lose(b []byte, fn func(lost []byte)) {
	for i := range b {
		for _, n := range []int{1, 100, len(b) / 2, len(b)} {
			lost := bytes.Clone(b)
			clear(lost[i:min(i+n, len(b))])
			fn(lost)
		}
	}
}

// TestScanCommitted: what is known to have been committed is never torn, whatever
// became of it.
func TestScanCommitted(t *testing.T) {
	before := change(1, 1)
	stride, tried := 1, 0
	if testing.Short() {
		stride = 16
	}
	for lines := 1; lines <= 3; lines++ {
		last := change(2, lines)
		damaged := func(b []byte) {
			t.Helper()
			if tried++; tried%stride != 0 {
				return
			}
			b = append(bytes.Clone(before), b...)
			l := New("j", &fakeFile{data: b})
			l.SetCommitted(func() int64 { return int64(len(b)) })
			pos, _, err := l.Scan(Position{}, ignore)
			var bad, last *CorruptError
			if !errors.As(err, &bad) || bad.Offset < int64(len(before)) || bad.Offset >= int64(len(b)) || pos != (Position{int64(len(before)), 1}) {
				t.Fatalf("Scan: to %v, %v", pos, err)
			}
			if _, _, err := l.Last(); !errors.As(err, &last) || *last != *bad {
				t.Fatalf("Last: %v, Scan says %v", err, bad)
			}
			if _, err := l.Find(2); err == nil {
				t.Fatal("Find found it")
			}
		}
		lose(last, damaged)
		for n := 1; n < len(last); n++ {
			damaged(last[:n])
		}
	}
}

// TestScanOneChangeBehindTheCommitted: where whole changes lie between the
// committed bytes and lost pages, lines that read are not given up with those that
// do not. A line that does not fit the numbers, or ends a change too early, is not
// of a torn change either.
func TestScanOneChangeBehindTheCommitted(t *testing.T) {
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	nul := func(b []byte) []byte { b = bytes.Clone(b); b[60] = 0; return b }
	one := int64(len(change(1, 1)))
	tests := []struct {
		name      string
		data      []byte
		committed int64
		line      int // that is damaged; 0: torn
	}{
		{"the change behind them", join(change(1, 1), nul(change(2, 2))), one, 0},
		{"a change further on", join(change(1, 1), nul(change(2, 2))), 0, 2},
		{"the last line further on", join(change(1, 1), nul(change(2, 1))), 0, 0},
		{"two changes behind them", join(change(1, 1), nul(change(2, 1)), change(3, 1), change(4, 1)), one, 2},
		{"a number too low", join(change(1, 3), nul(change(4, 2)), change(4, 1)), int64(len(change(1, 3))), 4},
		{"other damage in the same change", join(change(1, 1), nul(change(2, 2)), []byte("x\n")), one, 2},
		{"they end inside it", join(change(1, 1), nul(change(2, 2))), one + 10, 2},
		{"they end behind the file", join(change(1, 1), nul(change(2, 1))), 1 << 20, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New("j", &fakeFile{data: tt.data})
			l.SetCommitted(func() int64 { return tt.committed })
			pos, tail, err := l.Scan(Position{}, ignore)
			var bad *CorruptError
			switch {
			case tt.line == 0 && (err != nil || pos.Offset+tail.Torn != int64(len(tt.data)) || tail.Torn == 0):
				t.Fatal(pos, tail, err)
			case tt.line > 0 && (!errors.As(err, &bad) || bad.Line != tt.line):
				t.Fatal(pos, tail, err)
			}
			if last, end, lastErr := l.Last(); err == nil && (lastErr != nil || last != pos || end != tail) {
				t.Fatalf("Last: %v, torn %d, %v; Scan: %v, torn %d", last, end.Torn, lastErr, pos, tail.Torn)
			}
		})
	}
}

func numbers(n int) []int64 {
	seqs := make([]int64, n)
	for i := range seqs {
		seqs[i] = int64(i + 1)
	}
	return seqs
}

func TestScanDamage(t *testing.T) {
	const lines = 6
	tests := []struct {
		name, problem string
		damage        func(line []byte) []byte
	}{
		{"garbage", "expected", func(line []byte) []byte { return []byte("garbage\n") }},
		{"blank line", "blank", func(line []byte) []byte { return append([]byte("\n"), line...) }},
		{"CR LF", "CR LF", func(line []byte) []byte { return append(line[:len(line)-1], "\r\n"...) }},
		{"byte order mark", "byte order mark", func(line []byte) []byte { return append([]byte("\xef\xbb\xbf"), line...) }},
		{"first half", "", func(line []byte) []byte { return append(line[:len(line)/2], '\n') }},
		{"newline inside", "", func(line []byte) []byte { line[50] = '\n'; return line }},
		{"newline lost", "the end expected", func(line []byte) []byte { return append(line[:len(line)-1:len(line)-1], line...) }},
		{"not UTF-8", "UTF-8", func(line []byte) []byte { line[100] = 0xff; return line }},
		{"number 0", "event_seq", func(line []byte) []byte { return bytes.Replace(line, []byte(`_seq":`), []byte(`_seq":0,"n":`), 1) }},
		{"too long", "longer than", func(line []byte) []byte { return append(bytes.Repeat([]byte(" "), MaxLine), line...) }},
	}
	for _, tt := range tests {
		for n := range lines {
			t.Run(fmt.Sprintf("%s in line %d", tt.name, n+1), func(t *testing.T) {
				checkDamage(t, damaged(lines, n, tt.damage), n, tt.problem)
			})
		}
	}
}

// damaged gives as many one-line changes as lines, with the nth changed.
func damaged(lines, n int, damage func([]byte) []byte) []byte {
	var b []byte
	for i := range lines {
		line := change(int64(i+1), 1)
		if i == n {
			line = damage(line)
		}
		b = append(b, line...)
	}
	return b
}

// checkDamage expects all before line n (from 0), and then a CorruptError there.
func checkDamage(t *testing.T, b []byte, n int, problem string) {
	t.Helper()
	l := New("j", &fakeFile{data: b})
	count := 0
	pos, _, err := l.Scan(Position{}, func(*event.Event, int64) error { count++; return nil })
	var bad *CorruptError
	if !errors.As(err, &bad) {
		t.Fatalf("error %v", err)
	}
	whole := int64(len(damaged(n, -1, nil)))
	if count != n || pos != (Position{whole, int64(n)}) {
		t.Fatalf("%d events to %v, want %d to %d", count, pos, n, whole)
	}
	if bad.Line != n+1 || bad.Offset != whole || bad.Path != "j" || !strings.Contains(bad.Problem, problem) {
		t.Fatalf("%#v", bad)
	}
	if n > 0 { // from a later position the line number is still that of the file
		start := int64(len(damaged(1, -1, nil)))
		_, _, err = l.Scan(Position{start, 1}, func(*event.Event, int64) error { return nil })
		if !errors.As(err, &bad) || bad.Line != n+1 {
			t.Fatal(err)
		}
	}
}

func TestScanOrder(t *testing.T) {
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tests := []struct {
		name, problem string
		data          []byte
		from          Position
		line          int
	}{
		{"gap", "event_seq 4 follows 2", join(change(1, 2), change(4, 1)), Position{}, 3},
		{"gap of a torn line's length", "event_seq 3 follows 1", join(change(1, 1), change(3, 3)[:700]), Position{}, 2},
		{"twice", "event_seq 2 follows 2", join(change(1, 2), change(2, 1)), Position{}, 3},
		{"back", "event_seq 1 follows 2", join(change(1, 2), change(1, 1)), Position{}, 3},
		{"inside a change", "event_seq 9 follows 5", join(change(5, 2)[:len(change(5, 1))+len(`,"more":true`)], change(9, 1)), Position{}, 2},
		{"not after the position", "event_seq 1 follows 7", change(1, 2), Position{0, 7}, 1},
		{"not after the position's event", "event_seq 2 follows 5", change(1, 3), Position{int64(len(change(1, 3)) - len(change(2, 2))), 5}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New("j", &fakeFile{data: tt.data})
			_, _, err := l.Scan(tt.from, func(*event.Event, int64) error { return nil })
			var bad *CorruptError
			if !errors.As(err, &bad) || bad.Problem != tt.problem || bad.Line != tt.line {
				t.Fatalf("%v", err)
			}
		})
	}
}

func TestScanFromEveryPosition(t *testing.T) {
	b := bytes.Join([][]byte{change(1, 1), change(2, 3), change(5, 1), change(6, 2)}, nil)
	l := New("j", &fakeFile{data: b})
	end := Position{int64(len(b)), 7}
	seq := int64(0)
	for offset := range int64(len(b) + 2) {
		if offset > 0 && (offset > int64(len(b)) || b[offset-1] != '\n') {
			if _, _, err := l.Scan(Position{offset, seq}, nil); !errors.Is(err, ErrPosition) {
				t.Fatalf("offset %d: %v", offset, err)
			}
			continue
		}
		if offset > 0 {
			seq++
		}
		checkScan(t, l, Position{offset, seq}, numbers(7)[seq:], end, 0)
	}
	if _, _, err := l.Scan(Position{-1, 0}, nil); !errors.Is(err, ErrPosition) {
		t.Fatal(err)
	}
}

func TestScanStopsWhenTold(t *testing.T) {
	b := bytes.Join([][]byte{change(1, 1), change(2, 3), change(5, 1)}, nil)
	one, four := int64(len(change(1, 1))), int64(len(b)-len(change(5, 1)))
	stop := &CorruptError{Problem: "a caller's own error, even of our type"}
	for seq, want := range map[int64]Position{1: {}, 2: {one, 1}, 3: {one, 1}, 4: {one, 1}, 5: {four, 4}} {
		calls := int64(0)
		pos, _, err := New("j", &fakeFile{data: b}).Scan(Position{}, func(e *event.Event, _ int64) error {
			if calls++; e.Seq == seq {
				return stop
			}
			return nil
		})
		if err != error(stop) || pos != want || calls != seq {
			t.Fatalf("stopped at %d: %v after %d calls, %v", seq, pos, calls, err)
		}
	}
}

func TestScanLongLines(t *testing.T) {
	e := sample(2)
	base := len(e.Append(nil)) + len(`,"reason":""`)
	for _, n := range []int{scanWindow - 1, scanWindow, scanWindow + 1, 3*scanWindow + 7, MaxLine - 1, MaxLine} {
		e.Reason = strings.Repeat("x", n-base)
		b := bytes.Join([][]byte{change(1, 1), e.Append(nil), change(3, 2)}, nil)
		if len(e.Append(nil)) != n {
			t.Fatal("the test does not make the line it wants")
		}
		l := New("j", &fakeFile{data: b})
		checkScan(t, l, Position{}, numbers(4), Position{int64(len(b)), 4}, 0)
		whole := int64(len(change(1, 1)))
		l = New("j", &fakeFile{data: b[:whole+int64(n)-1]})
		checkScan(t, l, Position{}, numbers(1), Position{whole, 1}, int64(n)-1)
		l = New("j", &fakeFile{data: b[:whole+int64(n)]})
		checkScan(t, l, Position{}, numbers(2), Position{whole + int64(n), 2}, 0)
	}
}

// TestScanReadsInPieces checks that no read is larger than the window.
func TestScanReadsInPieces(t *testing.T) {
	b := bytes.Join([][]byte{change(1, 700), change(701, 1), change(702, 900)}, nil)
	f := &countingFile{fakeFile: fakeFile{data: b}}
	checkScan(t, New("j", f), Position{}, numbers(1601), Position{int64(len(b)), 1601}, 0)
	f.largest = 0
	if _, _, err := New("j", f).Scan(Position{}, func(*event.Event, int64) error { return nil }); err != nil || f.largest > scanWindow {
		t.Fatalf("read %d bytes at once, %v", f.largest, err)
	}
}

type countingFile struct {
	fakeFile
	largest, reads int
}

func (f *countingFile) ReadAt(b []byte, off int64) (int, error) {
	f.largest = max(f.largest, len(b))
	f.reads++
	return f.fakeFile.ReadAt(b, off)
}

// TestScanMeetsAWriterThatCuts: a reader has the first part of a torn line in its
// buffer when a writer cuts the line off and writes others in its place.
func TestScanMeetsAWriterThatCuts(t *testing.T) {
	long := sample(2)
	long.Reason = strings.Repeat("long ", 2*scanWindow/5)
	before := change(1, 1)
	torn := append(bytes.Clone(before), long.Append(nil)[:scanWindow+scanWindow/2]...)
	f := &fakeFile{data: torn}
	after := append(bytes.Clone(before), change(2, 400)...)
	f.beforeNextReads = []func(){func() {}, func() { f.data = after }}
	checkScan(t, New("j", f), Position{}, numbers(401), Position{int64(len(after)), 401}, 0)
}

// TestScanForgetsWhatItGlued: as before, and the line met twice is of a change that
// had begun before.
func TestScanForgetsWhatItGlued(t *testing.T) {
	start := change(1, 1)
	torn := append(bytes.Clone(start), change(2, 400)...)
	f := &fakeFile{data: torn[:scanWindow+100]}
	after := append(bytes.Clone(start), change(2, 2)...)
	after = append(after, bytes.Repeat([]byte("x\n"), scanWindow)...)
	whole := append(bytes.Clone(start), change(2, 5)...)
	f.beforeNextReads = []func(){func() {}, func() { f.data = after }, func() { f.data = whole }}
	checkScan(t, New("j", f), Position{}, numbers(6), Position{int64(len(whole)), 6}, 0)
}

func TestLineReaderNeverGrowsBeyondALine(t *testing.T) {
	f := &fakeFile{data: append(bytes.Repeat([]byte(" "), MaxLine), '\n')}
	for _, window := range []int64{leastRead, 700, scanWindow - 1} {
		if _, err := newLineReader(f, 0, window).next(); err != errLineTooLong {
			t.Fatalf("window %d: %v", window, err)
		}
	}
}

func TestCloneOutlivesTheScan(t *testing.T) {
	b := bytes.Join([][]byte{change(1, 1), change(2, 800), change(802, 1)}, nil)
	var kept []event.Event
	_, _, err := New("j", &fakeFile{data: b}).Scan(Position{}, func(e *event.Event, _ int64) error {
		kept = append(kept, e.Clone())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var again []byte
	for i := range kept {
		again = kept[i].Append(again)
	}
	if !bytes.Equal(again, b) {
		t.Fatal("a clone changed after its scan went on")
	}
}

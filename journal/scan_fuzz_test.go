package journal

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/journal/event"
)

// FuzzScan: whatever is in a journal, it is read to the same end forwards and
// backwards, or is damaged in a line that can be named. Where it is not damaged,
// the next change takes the place of what was torn.
func FuzzScan(f *testing.F) {
	line := func(members string) string { return `{"event_type":"t",` + members + "}\n" }
	one, two := line(`"event_seq":1`), line(`"event_seq":2`)
	for _, file := range []string{
		"", "\n", "\x00", "{", one, one + two + "\x00\x00", one + "\x00\x00\n", one + "\x00\n" + two, one + "\x00\n" + line(`"event_seq":3`), one + "\n" + two, one + one,
		line(`"event_seq":7,"more":true`), one + line(`"event_seq":2,"more":true`) + line(`"event_seq":3`) + `{"event_seq":4,"ev`,
		line(`"event_seq":9223372036854775807`), line(`"event_seq":9223372036854775807,"more":true`) + one,
		"\xef\xbb\xbf" + one, strings.ReplaceAll(one+two, "\n", "\r\n"), line(`"event_seq":1,"x":"` + "\xff" + `"`), strings.Repeat("[", 300) + "\n",
	} {
		f.Add([]byte(file), int64(0))
		f.Add([]byte(file), int64(len(one)))
		f.Add([]byte(file), int64(len(file)))
	}
	f.Fuzz(func(t *testing.T, data []byte, committed int64) {
		l := New("journal", &fakeFile{data: slices.Clone(data)})
		l.SetCommitted(func() int64 { return committed })
		seqs, at, tail, err := scanned(l)
		if err != nil {
			var damage *CorruptError
			if !errors.As(err, &damage) || damage.Offset >= int64(len(data)) || damage.Line > strings.Count(string(data), "\n")+1 {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if at.Offset+tail.Torn != int64(len(data)) {
			t.Fatalf("%q: ends at %+v with %d bytes behind", data, at, tail.Torn)
		}
		isOthers := committed > 0 && committed < int64(len(data)) && data[committed-1] != '\n'
		if tail.Torn > 0 && at.Offset < committed && committed <= int64(len(data)) && !isOthers {
			t.Fatalf("%q: torn from %d, though %d bytes are committed", data, at.Offset, committed)
		}
		if last, end, err := l.Last(); err != nil || last != at || end != tail {
			t.Fatalf("%q: backwards to %+v, %+v (%v), forwards to %+v, %+v", data, last, end, err, at, tail)
		}
		if at.Seq == math.MaxInt64 {
			return
		}
		next := sample(at.Seq + 1)
		if err := l.Cut(at); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(at, []event.Event{next}, nil); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if now, _, tail, err := scanned(l); err != nil || tail.Torn != 0 || !slices.Equal(now, append(seqs, next.Seq)) {
			t.Fatalf("%q: after one more %d (%v), before it %d", data, now, err, seqs)
		}
	})
}

func scanned(l *Log) (seqs []int64, at Position, tail Tail, err error) {
	at, tail, err = l.Scan(Position{}, func(e *event.Event, _ int64) error {
		seqs = append(seqs, e.Seq)
		return nil
	})
	return seqs, at, tail, err
}

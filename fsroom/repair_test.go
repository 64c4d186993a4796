package fsroom_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/journal/event"
	"pgregory.net/rapid"
)

// mendableRules can tell how a room was opened.
func mendableRules() *fsroom.Rules[*tally] {
	rules := *tallyRules
	rules.Reopen = func(*tally) event.Event { return event.Event{Type: opened} }
	return &rules
}

// repair mends the fixture's room and checks that what it says is so.
func (f *fixture) repair() []doctor.Problem {
	f.t.Helper()
	r := fsroom.At(openStore(f.t, f.dir, fsroom.Options{}), mendableRules(), "demo")
	problems := doctor.Repair(context.Background(), r)
	left := doctor.Check(r)
	for _, p := range problems {
		remains := slices.ContainsFunc(left, func(q doctor.Problem) bool { return q.File == p.File && q.Problem == p.Problem })
		if remains == p.Repaired && !strings.HasPrefix(p.Problem, "not repaired") {
			f.t.Errorf("%+v, but Check finds %+v", p, left)
		}
	}
	return problems
}

// kept is the content of what was kept beside the files of a directory.
func (f *fixture) kept(dir, pattern string) []string {
	f.t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	f.must(err)
	var all []string
	for _, path := range paths {
		all = append(all, string(f.read(path)))
	}
	return all
}

func lines(b []byte) []string {
	l := strings.SplitAfter(string(b), "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

// TestRepairJournal: every line that reads stays as it was, numbers have no gap,
// the damaged bytes are kept, and the room is what state.json says.
func TestRepairJournal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		harm func(l []string) []string
		lost []int // numbers within the life, from 0, of the events that are lost
		more int   // lines that were no events
		name string
	}{
		"a line in the middle": {harm: func(l []string) []string { l[3] = "###\n"; return l }, lost: []int{3}},
		"several lines":        {harm: func(l []string) []string { l[2], l[3], l[5] = "{\n", "\x00\x00\n", "x\n"; return l }, lost: []int{2, 3, 5}},
		"lines that ran together": {harm: func(l []string) []string {
			l[2], l[3] = strings.TrimSuffix(l[2], "\n"), strings.Repeat("\x00", 50)+"\n"
			return l
		}, lost: []int{2, 3}},
		"lines taken out":     {harm: func(l []string) []string { return slices.Delete(l, 2, 4) }, lost: []int{2, 3}},
		"a line twice":        {harm: func(l []string) []string { return slices.Insert(l, 3, l[2]) }},
		"the last line twice": {harm: func(l []string) []string { return append(l, l[len(l)-1]) }},
		"a line put in":       {harm: func(l []string) []string { return slices.Insert(l, 3, "\n") }},
		"saved by an editor of another system": {harm: func(l []string) []string {
			return strings.SplitAfter("\ufeff"+strings.ReplaceAll(strings.Join(l, ""), "\n", "\r\n"), "\n")
		}},
		"a payload": {harm: func(l []string) []string {
			l[4] = strings.Replace(l[4], `"payload":"`, `"payload":7,"was":"`, 1)
			return l
		}, lost: []int{4}},
		"the last line":    {harm: func(l []string) []string { l[6] = "oops\n"; return l }, lost: []int{6}},
		"the first line":   {harm: func(l []string) []string { l[0] = "oops\n"; return l }, lost: []int{0}},
		"all but the last": {harm: func(l []string) []string { return []string{"a\n", "b\n", l[6]} }, lost: []int{0, 1, 2, 3, 4, 5}},
		"every line":       {harm: func([]string) []string { return []string{"a\n"} }, lost: []int{0, 1, 2, 3, 4, 5, 6}},
		"more lines":       {harm: func(l []string) []string { return append(l[:6], "oops\n", "oops\n") }, lost: []int{6}, more: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.populate()
			f.do(say("b", "bye"))
			before := lines(f.read(f.room.JournalPath()))[:7]
			f.write(f.room.JournalPath(), []byte(strings.Join(before, "")))
			f.must(os.Remove(f.statePath()))
			f.do(nothing)
			known, err := f.room.Load()
			f.must(err)
			damaged := strings.Join(test.harm(slices.Clone(before)), "")
			f.write(f.room.JournalPath(), []byte(damaged))
			if got := f.repair(); len(got) == 0 || !got[0].Repaired || *got[0].Lost != len(test.lost)+test.more || !strings.Contains(got[0].Kept, ".damaged-") {
				t.Fatalf("Repair: %+v", got)
			}
			after := lines(f.read(f.room.JournalPath()))
			if last := after[len(after)-1]; strings.Contains(last, event.JournalDamaged) {
				after = after[:len(after)-1-test.more]
			}
			if len(after) != len(before) {
				t.Fatalf("%d events, want %d:\n%s", len(after), len(before), strings.Join(after, ""))
			}
			for i := range before {
				if lost := slices.Contains(test.lost, i); lost == (before[i] == after[i]) {
					t.Errorf("event %d: %s, was %s", i, after[i], before[i])
				}
			}
			if got := f.kept(f.room.Dir(), "journal.damaged-*.jsonl"); len(got) != 1 || got[0] != damaged {
				t.Errorf("kept %q", got)
			}
			if again := f.repair(); len(again) != 0 {
				t.Errorf("a second Repair finds %+v", again)
			}
			mended, err := f.room.Load()
			f.must(err)
			mended.State.Seq = known.State.Seq
			if !reflect.DeepEqual(mended.State, known.State) || mended.Turn != known.Turn {
				t.Errorf("%+v after the repair, was %+v", mended.State, known.State)
			}
			f.do(join("z"), say("z", "goes on"))
		})
	}
}

// TestRepairLeavesContradictions: only a person can say which of two numbers that
// contradict each other is right.
func TestRepairLeavesContradictions(t *testing.T) {
	t.Parallel()
	number := func(l []string, i int) []string { l[i] = strings.Replace(l[i], `_seq":`, `_seq":4`, 1); return l }
	for name, harm := range map[string]func(l []string) []string{
		"another line twice":                               func(l []string) []string { return slices.Insert(l, 4, l[2]) },
		"two lines swapped":                                func(l []string) []string { l[3], l[4] = l[4], l[3]; return l },
		"a number that is wrong":                           func(l []string) []string { return number(l, 2) },
		"the last number, in a line that was acknowledged": func(l []string) []string { return number(l, len(l)-1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.populate()
			before := f.read(f.room.JournalPath())
			damaged := []byte(strings.Join(harm(lines(before)), ""))
			f.write(f.room.JournalPath(), damaged)
			got := f.repair()
			if len(got) == 0 || got[0].Repaired || !strings.Contains(got[len(got)-1].Problem, "for a person to say") {
				t.Errorf("Repair: %+v", got)
			}
			if len(got) > 0 && got[0].Repair != "" {
				t.Errorf("promised: %s", got[0].Repair)
			}
			if !bytes.Equal(f.read(f.room.JournalPath()), damaged) || len(f.kept(f.room.Dir(), "*.damaged-*")) > 0 {
				t.Error("something was changed")
			}
			f.write(f.room.JournalPath(), before)
			f.do(nothing)
		})
	}
}

// TestRepairDropsWhatIsTorn: a journal that is damaged in the middle and torn at its
// end loses the text of one event and keeps nothing of the change that never happened.
func TestRepairDropsWhatIsTorn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"), say("a", "one"), say("a", "two"))
	before, state := f.read(f.room.JournalPath()), f.saved()
	f.do(leaveOpen("a"))
	whole := f.read(f.room.JournalPath())
	for at := len(before); at < len(whole); at += 40 {
		damaged := bytes.Clone(whole)
		damaged[len(before)-20], damaged[at] = 'x', 0
		damaged[len(before)-2] = '!'
		f.write(f.room.JournalPath(), damaged)
		state.restore(f)
		f.repair()
		if snap := f.view(); snap.Position.Seq != 5 || snap.State.Said["a"] != 2 {
			t.Errorf("NUL at %d: %+v at %+v", at, snap.State, snap.Position)
		}
		f.removeKept()
	}
}

// TestRepairOfOrphan: how the room was opened stands nowhere any more, so
// nothing is changed.
func TestRepairOfOrphan(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	f.write(f.room.JournalPath(), append([]byte("oops\n"), f.read(f.room.JournalPath())...))
	b := lines(f.read(f.room.JournalPath()))
	f.write(f.room.JournalPath(), []byte(strings.Join(slices.Delete(b, 1, 2), "")))
	f.must(os.Remove(f.statePath()))
	damaged := f.read(f.room.JournalPath())
	got := f.repair()
	if len(got) != 2 || got[0].Repaired || got[1].Repaired || !strings.Contains(got[1].Problem, "opened the room") {
		t.Errorf("Repair: %+v", got)
	}
	if !bytes.Equal(f.read(f.room.JournalPath()), damaged) {
		t.Error("the journal was changed")
	}
	f.expect("journal.jsonl:1:")
}

// TestRepairArchive: lives that are over are mended as well.
func TestRepairArchive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	paths, err := f.room.Archived()
	f.must(err)
	before := lines(f.read(paths[0]))
	damaged := strings.Join(slices.Concat(before[:2], []string{"oops\n"}, before[3:]), "")
	f.write(paths[0], []byte(damaged))
	if got := f.repair(); len(got) != 1 || got[0].File != paths[0] || got[0].Line != 3 || !got[0].Repaired {
		t.Errorf("Repair: %+v", got)
	}
	after := lines(f.read(paths[0]))
	if len(after) != len(before) || after[2] == before[2] || after[3] != before[3] {
		t.Errorf("%q, was %q", after, before)
	}
	if got := f.kept(f.room.ArchiveDir(), "*.damaged-*"); len(got) != 1 || got[0] != damaged {
		t.Errorf("kept %q", got)
	}
}

// TestRepairKeepsWhatItReplaces besides the journal.
func TestRepairKeepsWhatItReplaces(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		harm func(f *fixture) (bytes string)
		kept string // pattern of the file that has the bytes
	}{
		"a torn tail": {func(f *fixture) string {
			before := f.read(f.room.JournalPath())
			f.tear()
			return string(f.read(f.room.JournalPath())[len(before):])
		}, "journal.torn-*.jsonl"},
		"a damaged state": {func(f *fixture) string {
			f.must(os.Truncate(f.statePath(), 20))
			return string(f.read(f.statePath()))
		}, "state.damaged-*.json"},
		"a damaged state between two lives": {func(f *fixture) string {
			f.do(leave("b"), leave("c"))
			f.write(f.statePath(), []byte("{"))
			return "{"
		}, "state.damaged-*.json"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.populate()
			want := test.harm(f)
			if got := f.repair(); len(got) != 1 || !got[0].Repaired {
				t.Fatalf("Repair: %+v", got)
			}
			if got := f.kept(f.room.Dir(), test.kept); len(got) != 1 || got[0] != want {
				t.Errorf("kept %q, want %q", got, want)
			}
			f.do(join("b"), say("b", "goes on"))
		})
	}
}

// TestRepairMakesPrivate, and sweeps what killed processes left.
func TestRepairMakesPrivate(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o755, 0o500} {
		f := newFixture(t)
		f.populate()
		f.write(filepath.Join(f.room.Dir(), "tmp", "left"), nil)
		for _, path := range []string{f.room.JournalPath(), filepath.Join(f.room.Dir(), "tmp"), f.room.Dir()} {
			f.must(os.Chmod(path, mode))
		}
		found := f.repair()
		for _, p := range found {
			if !p.Repaired {
				t.Errorf("%+v", p)
			}
		}
		if len(found) != 4 {
			t.Errorf("found %+v", found)
		}
		f.do(say("b", "goes on"))
	}
}

// TestRepairWithoutRoom makes none.
func TestRepairWithoutRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if got := f.repair(); len(got) != 0 {
		t.Errorf("Repair: %+v", got)
	}
	if _, err := os.Lstat(f.dir); err == nil {
		t.Error("a directory was made")
	}
}

// TestRepairAnyDamage: whatever bytes are overwritten, repair ends in a room
// that reads and works, or changes nothing and says so; and no line is lost that
// was not hit.
func TestRepairAnyDamage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.populate()
	for i := range 8 {
		f.do(say("b", fmt.Sprint("word ", i)))
	}
	journalBytes, state := f.read(f.room.JournalPath()), f.read(f.statePath())
	rapid.Check(t, func(rt *rapid.T) {
		damaged := slices.Clone(journalBytes)
		for range rapid.IntRange(1, 4).Draw(rt, "hits") {
			at := rapid.IntRange(0, len(damaged)-1).Draw(rt, "at")
			n := rapid.IntRange(1, 200).Draw(rt, "length")
			fill := rapid.SampledFrom([]byte{0, '\n', 'x', '9', '"', '}'}).Draw(rt, "fill")
			for i := at; i < min(at+n, len(damaged)); i++ {
				damaged[i] = fill
			}
		}
		f.write(f.room.JournalPath(), damaged)
		f.write(f.statePath(), state)
		for _, p := range f.repair() {
			if strings.Contains(p.Problem, "for a person to say") {
				if !bytes.Equal(f.read(f.room.JournalPath()), damaged) {
					rt.Errorf("left to a person, but changed")
				}
				return
			}
		}
		for _, p := range f.problems() {
			rt.Errorf("%s", p)
		}
		after := string(f.read(f.room.JournalPath()))
		for _, line := range lines(damaged) {
			if e, err := event.Decode([]byte(line)); err == nil && bytes.Contains(journalBytes, []byte(line)) && !strings.Contains(after, line) {
				rt.Errorf("event %d is lost", e.Seq)
			}
		}
		f.removeKept()
	})
	f.write(f.room.JournalPath(), journalBytes)
	f.write(f.statePath(), state)
	f.do(nothing)
}

func (f *fixture) removeKept() {
	f.t.Helper()
	paths, err := filepath.Glob(filepath.Join(f.room.Dir(), "*.*-*"))
	f.must(err)
	for _, path := range paths {
		f.must(os.Remove(path))
	}
}

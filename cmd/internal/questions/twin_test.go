package questions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/topic"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

// twoTrees are a repository with a linked working tree, and a data directory.
type twoTrees struct {
	*testing.T
	data, main, linked string
}

func newTwoTrees(t *testing.T) *twoTrees {
	dir := t.TempDir()
	f := &twoTrees{t, filepath.Join(dir, "data"), filepath.Join(dir, "main"), filepath.Join(dir, "linked")}
	git := filepath.Join(f.main, ".git")
	for path, text := range map[string]string{
		filepath.Join(git, "HEAD"):                        "ref: refs/heads/main",
		filepath.Join(git, "objects", "x"):                "",
		filepath.Join(git, "refs", "x"):                   "",
		filepath.Join(git, "worktrees", "w", "gitdir"):    filepath.Join(f.linked, ".git"),
		filepath.Join(git, "worktrees", "w", "commondir"): "../..",
		filepath.Join(git, "worktrees", "w", "HEAD"):      "ref: refs/heads/w",
		filepath.Join(f.linked, ".git"):                   "gitdir: " + filepath.Join(git, "worktrees", "w"),
	} {
		f.must(os.MkdirAll(filepath.Dir(path), 0o755))
		f.must(os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	return f
}

func (f *twoTrees) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// room returns the room of a tree as an agent uses it, which is a member then.
func (f *twoTrees) room(dir, agent string, fault func(fsroom.Step) error) *Room {
	f.Helper()
	w, err := workspace.Locate(dir, dir, dir)
	f.must(err)
	store, err := fsroom.Open(f.data, fsroom.Options{})
	f.must(err)
	c := &member.Client{
		Store: store, Table: identity.System(), Self: identity.Agent{ID: agent, Source: identity.SourceOverride},
		Policy: func() (turn.Policy, error) { return turn.DefaultPolicy(), nil },
	}
	r, _, err := c.Join(context.Background(), w, false, false)
	f.must(err)
	if fault != nil {
		if c.Store, err = fsroom.Open(f.data, fsroom.Options{Fault: fault}); err != nil {
			f.Fatal(err)
		}
		r = c.Room(r.FS.Name(), w)
	}
	return Of(r)
}

// looks does what the next command of the agent of the room does.
func (f *twoTrees) looks(r *Room) {
	f.Helper()
	_, _, _, err := r.SettledTopic(context.Background())
	f.must(err)
}

// topic is what the room has of questions.
func (f *twoTrees) topic(r *Room) (all string) {
	f.Helper()
	_, s, err := r.Topic()
	f.must(err)
	for _, q := range s.Questions {
		all += fmt.Sprintf("%s for %s: %s, %d answers", q.AskedBy, q.To, q.Status, len(q.Answers))
	}
	return all
}

// A process that fails, or is killed, at any step of a change of a question in two rooms leaves
// nothing that only one of them has, once its agent has run another command.
func TestTwinsAfterEveryStep(t *testing.T) {
	ctx, broken := context.Background(), errors.New("broken")
	ask := func(a, b *Room) error { _, err := a.Ask(ctx, "b:1", "which one?"); return err }
	one := func(r *Room) string {
		_, s, err := r.Topic()
		if err != nil || len(s.Questions) != 1 {
			t.Fatalf("%v, %v", s, err)
		}
		return s.Questions[0].ID
	}
	answer := func(a, b *Room) error { _, _, err := b.Answer(ctx, one(a), "this one"); return err }
	const open, answered, cancelled = "a:1 for b:1: pending, 0 answers", "a:1 for b:1: pending, 1 answers", "a:1 for b:1: cancelled, 0 answers"
	for _, action := range []struct {
		name   string
		before func(a, b *Room) error
		do     func(a, b *Room) error
		byB    bool
		ends   map[string]string // what a may see to what b sees then
	}{
		{"ask", nil, ask, false, map[string]string{"": "", open: open, cancelled: ""}},
		{"answer", ask, answer, true, map[string]string{open: open, answered: "a:1 for b:1: answered, 1 answers"}},
		{"close", ask, func(a, b *Room) error { _, err := a.CloseQuestion(ctx, one(b), ""); return err }, false,
			map[string]string{open: open, cancelled: cancelled}},
		{"mark", ask, func(a, b *Room) error {
			on, _, err := a.Topic()
			if err == nil {
				_, _, err = Settle(ctx, on, one(b), func(s *topic.State) ([]event.Event, error) { return s.MarkAnswered("a:1", s.Questions[0].ID) })
			}
			return err
		}, false, map[string]string{open: open, "a:1 for b:1: answered, 0 answers": "a:1 for b:1: answered, 0 answers"}},
	} {
		for _, killed := range []bool{true, false} {
			for n, over := 1, false; !over; n++ {
				f := newTwoTrees(t)
				a, b := f.room(f.main, "a:1", nil), f.room(f.linked, "b:1", nil)
				if action.before != nil {
					f.must(action.before(a, b))
				}
				step := 0
				fault := func(st fsroom.Step) error {
					if st == fsroom.StepAppend || st == fsroom.StepReplace {
						step++ // of those that others see
					}
					if step == n && (killed || st == fsroom.StepAppend || st == fsroom.StepReplace) || killed && step > n {
						return broken
					}
					return nil
				}
				var err error
				if action.byB {
					err = action.do(a, f.room(f.linked, "b:1", fault))
					f.looks(b)
				} else {
					err = action.do(f.room(f.main, "a:1", fault), b)
					f.looks(a)
				}
				over = step < n
				seenA, seenB := f.topic(a), f.topic(b)
				if want, ok := action.ends[seenA]; !ok || seenB != want && !(seenA == cancelled && seenB == cancelled) {
					t.Errorf("%s, step %d, killed %t, %v: a sees %q and b %q", action.name, n, killed, err, seenA, seenB)
				}
				if over && err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestLostAnswerStaysLost: of an answer whose text one room has lost the other one gets no text, also not the words that say so.
func TestLostAnswerStaysLost(t *testing.T) {
	ctx := context.Background()
	f := newTwoTrees(t)
	a, b := f.room(f.main, "a:1", nil), f.room(f.linked, "b:1", nil)
	_, err := a.Ask(ctx, "b:1", "which one?")
	f.must(err)
	on, _, err := a.Topic()
	f.must(err)
	other, s, err := b.Topic()
	f.must(err)
	appends := 0
	_, _, err = f.room(f.linked, "b:1", func(st fsroom.Step) error {
		if st == fsroom.StepAppend {
			appends++
		}
		if appends == 2 { // the first is in the room of the asker
			return errors.New("broken")
		}
		return nil
	}).Answer(ctx, s.Questions[0].ID, "this one")
	if before := f.topic(b); err == nil || before != "a:1 for b:1: pending, 0 answers" {
		t.Fatalf("%v: %s", err, before)
	}
	journal, err := os.ReadFile(on.JournalPath())
	f.must(err)
	cut := bytes.LastIndexByte(bytes.TrimSuffix(journal, []byte("\n")), '\n') + 1
	f.must(os.WriteFile(on.JournalPath(), journal[:cut], 0o600))
	f.looks(b)
	journal, err = os.ReadFile(other.JournalPath())
	f.must(err)
	if after := f.topic(b); after != "a:1 for b:1: answered, 1 answers" || bytes.Contains(journal, []byte(topic.LostText)) {
		t.Errorf("%s in\n%s", after, journal)
	}
}

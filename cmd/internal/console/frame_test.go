package console

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// scenes are what the golden frames show.
var scenes = map[string]func(w, h int) *model{
	"rooms": sample,
	"room":  sampleRoom,
	"empty": func(w, h int) *model {
		m := sample(w, h)
		m.rooms = nil
		m.settle()
		return m
	},
	"inbox": func(w, h int) *model {
		m := sample(w, h)
		m.page, m.items, m.item = pageInbox, sampleItems(), 1
		return m
	},
	"handoff": func(w, h int) *model {
		m := sampleRoom(w, h)
		m.readHandoff()
		return m
	},
	"keys": func(w, h int) *model {
		m := sample(w, h)
		m.help = true
		return m
	},
	"filter": func(w, h int) *model {
		m := sample(w, h)
		m.filters[0], m.typing = "pay", true
		m.settle()
		return m
	},
	"take": func(w, h int) *model {
		m := sampleRoom(w, h)
		m.askTake(m.target())
		m.dialog.fields[0].Insert("stopped for an hour")
		return m
	},
	"kick": func(w, h int) *model {
		m := sampleRoom(w, h)
		m.panel, m.picked[panelMembers] = panelMembers, "claude:9ee39375"
		m.askKick(m.target())
		m.dialog.fields[0].Insert("its terminal is gone")
		m.dialog.at, m.dialog.missing = 1, "type claude:9ee39375"
		return m
	},
	"message": func(w, h int) *model {
		m := sampleRoom(w, h)
		m.askMessage(m.target())
		m.dialog.fields[0].Insert(`use --json "quotes", 日本語`)
		m.dialog.interrupt = true
		return m
	},
	"refused": func(w, h int) *model {
		m := sampleRoom(w, h)
		m.readOnly = true
		m.refuse("the stick is held by gemini:5c0ffee5, turn 32 · look again")
		return m
	},
	"overtaken": func(w, h int) *model {
		m := sampleRoom(w, h)
		m.askTake(m.target())
		m.detail.View.Owner, m.detail.View.TurnID = "codex:8a77b001", 32
		return m
	},
}

// screens are the sizes of the golden frames.
var screens = [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}}

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "frames", name+".txtar")
			var got txtar.Archive
			for _, s := range screens {
				plain := render(t, scene(s[0], s[1]))
				got.Files = append(got.Files, txtar.File{Name: fmt.Sprintf("%dx%d", s[0], s[1]), Data: plain})
				m := scene(s[0], s[1])
				m.Colour = true
				coloured := render(t, m)
				if s[0] == 80 {
					got.Files = append(got.Files, txtar.File{Name: "80x24, colour", Data: []byte(strings.ReplaceAll(string(coloured), "\x1b", "␛"))})
				}
				if bare := ansi.Strip(string(coloured)); trimLines(bare) != string(plain) {
					t.Errorf("%v: colours change the text", s)
				}
				m = scene(s[0], s[1])
				m.ASCII = true
				ascii := string(render(t, m))
				if s[0] == 80 {
					got.Files = append(got.Files, txtar.File{Name: "80x24, ascii", Data: []byte(ascii)})
				}
			}
			if *update {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, txtar.Format(&got), 0o644)); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Files) != len(got.Files) {
				t.Fatalf("%d frames, %s has %d; -update writes them anew", len(got.Files), path, len(want.Files))
			}
			for i, f := range got.Files {
				if w := want.Files[i]; f.Name != w.Name || string(f.Data) != string(w.Data) {
					t.Errorf("%s differs; -update writes it anew, if that is meant:\n%s", f.Name, f.Data)
				}
			}
		})
	}
}

// render returns the frame as lines without the blanks at their ends, and checks it.
func render(t interface{ Fatalf(string, ...any) }, m *model) []byte {
	lines, cursor := m.frame()
	check(t, m, lines)
	if cursor != nil && (cursor.X < 0 || cursor.X >= m.w || cursor.Y < 0 || cursor.Y >= m.h) {
		t.Fatalf("the cursor is at %d,%d of %dx%d", cursor.X, cursor.Y, m.w, m.h)
	}
	return []byte(trimLines(strings.Join(lines, "\n") + "\n"))
}

func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// check fails unless the frame has the height and the width of the screen and no control
// characters but those of its styles.
func check(t interface{ Fatalf(string, ...any) }, m *model, lines []string) {
	if len(lines) != m.h {
		t.Fatalf("%d lines of %d", len(lines), m.h)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != m.w {
			t.Fatalf("line %d has %d columns of %d: %q", i, n, m.w, line)
		}
		for _, r := range ansi.Strip(line) {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2028' {
				t.Fatalf("line %d has a control character: %q", i, line)
			}
		}
	}
}

// Whatever agents write and are called, and however large the screen is, the frame fits.
func TestFrameFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[2J", "a\r\nb", "\u202eabc", "日本語日本語", "👨‍👩‍👧", "e\u0301", "\x00", "\t\t", strings.Repeat("x", 300), "🇩🇪🇫"}))
		names := make([]string, 0, len(scenes))
		for name := range scenes {
			names = append(names, name)
		}
		slices.Sort(names)
		w, h := rapid.IntRange(1, 220).Draw(t, "w"), rapid.IntRange(1, 70).Draw(t, "h")
		m := scenes[rapid.SampledFrom(names).Draw(t, "scene")](w, h)
		m.Colour, m.ASCII = rapid.Bool().Draw(t, "colour"), rapid.Bool().Draw(t, "ascii")
		for i := range m.rooms {
			r := &m.rooms[i]
			r.View.CanonicalPath = "/" + word.Draw(t, "path")
			r.View.Owner, r.View.ReservedFor = word.Draw(t, "owner"), word.Draw(t, "reserved")
			r.View.State = rapid.SampledFrom([]string{turn.StateOwned, turn.StateIdle, turn.StateReserved, turn.StateDormant, turn.StateStaleOwner, "?"}).Draw(t, "state")
			if len(r.Members) > 0 {
				r.Members[0].AgentID = word.Draw(t, "member")
			}
		}
		if d := m.detail; d != nil {
			d.Room = m.rooms[3]
			for i := range d.Entries {
				e := &d.Entries[i]
				e.Text, e.From, e.To, e.Reason = word.Draw(t, "text"), word.Draw(t, "from"), word.Draw(t, "to"), word.Draw(t, "reason")
				e.CreatedAt = event.NewTime(now.Add(-time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "age"))))
			}
			d.Notes[0].Text, d.Questions[0].Text, d.Locks[0].Name = word.Draw(t, "note"), word.Draw(t, "question"), word.Draw(t, "lock")
			for range rapid.IntRange(0, 3).Draw(t, "trees") {
				d.Siblings = append(d.Siblings, member.Sibling{Path: "/" + word.Draw(t, "tree"), Branch: word.Draw(t, "branch"), State: turn.StateIdle})
			}
			for range rapid.IntRange(0, 30).Draw(t, "more members") {
				d.Members = append(d.Members, aMember(word.Draw(t, "another"), time.Hour))
			}
		}
		for i := range m.items {
			m.items[i].Text, m.items[i].From = word.Draw(t, "item"), word.Draw(t, "sender")
		}
		if m.dialog != nil {
			m.dialog.title = word.Draw(t, "title")
			m.dialog.about = []string{word.Draw(t, "about")}
			for _, f := range m.dialog.fields {
				f.Insert(word.Draw(t, "typed"))
			}
		}
		m.status.text = word.Draw(t, "status")
		m.settle()
		render(t, m)
	})
}

func TestTreesLine(t *testing.T) {
	t.Parallel()
	m := scenes["room"](120, 40)
	m.detail.Siblings = []member.Sibling{
		{Path: m.detail.View.CanonicalPath + "-wt1", Branch: "feature", State: turn.StateOwned, Owner: "codex:7"},
		{Path: m.detail.View.CanonicalPath + "-wt2", State: turn.StateIdle},
	}
	screen := string(render(t, m))
	if !regexp.MustCompile(`Trees \S+-wt1 \(feature\) codex:7   \S+-wt2 idle`).MatchString(screen) {
		t.Error(screen)
	}
}

// The line with the stick has its agent, as scripts and people look for it.
func TestStickLine(t *testing.T) {
	t.Parallel()
	for _, s := range screens {
		if frame := string(render(t, sampleRoom(s[0], s[1]))); !strings.Contains(frame, " Stick gemini:5c0ffee5") {
			t.Errorf("%v:\n%s", s, frame)
		}
	}
}

// What a tree has lost stands beside the stick, with the command that brings it back.
func TestLostLine(t *testing.T) {
	t.Parallel()
	m := sampleRoom(160, 50)
	m.detail.Lost = 3
	if frame := string(render(t, m)); !strings.Contains(frame, "3 files went, not committed: tt restore --lost") {
		t.Error(frame)
	}
}

// What was tested stands above the panels, and whether the tree is still that one.
func TestVerdictLine(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 120, 160} {
		m := sampleRoom(width, 24)
		v := ledger.LastVerdict{Verdict: ledger.Verdict{Name: "test", Agent: "codex:1", At: m.now.Add(-time.Minute).Format(time.RFC3339)}, Current: true}
		old := v
		old.Name, old.Current = "lint", false
		m.detail.Verdicts = []ledger.LastVerdict{v, old}
		frame := string(render(t, m))
		if !strings.Contains(frame, "Tests test passed on this tree, by codex:1, 1m") ||
			width >= 120 && !strings.Contains(frame, "lint passed not on this tree") {
			t.Error(frame)
		}
	}
}

func TestRoomsWithinRooms(t *testing.T) {
	t.Parallel()
	rooms := []*look.Room{}
	for _, path := range []string{"/a", "/a/b", "/a/b/c/d", "/a-x", "/b/c", ""} {
		rooms = append(rooms, &look.Room{View: turn.RoomView{CanonicalPath: path}})
	}
	for i, want := range []string{"0 ", "1 /a", "2 /a/b", "0 ", "0 ", "0 "} {
		if got := fmt.Sprintln(around(rooms, i)); got != want+"\n" {
			t.Errorf("%q: %s, not %s", rooms[i].View.CanonicalPath, got, want)
		}
	}
}

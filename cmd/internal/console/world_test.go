package console

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/talking-stick/tt/cmd/internal/console/look"
)

// A world is a console whose rooms and commands are made up.
type world struct {
	*testing.T
	m       *model
	rooms   []look.Room
	detail  *look.Detail
	items   []look.Item
	ran     []command
	answers []result // of the next commands; an empty list answers with success
	quit    bool
	shown   []string
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, m: sample(100, 30), rooms: sampleRooms(), detail: sampleDetail(), items: sampleItems()}
	w.m.eyes = w
	w.m.looks.full = now
	w.m.pause = func(time.Duration) {}
	w.m.run = func(c command) result {
		w.ran = append(w.ran, c)
		if len(w.answers) == 0 {
			return result{}
		}
		res := w.answers[0]
		w.answers = w.answers[1:]
		return res
	}
	return w
}

func (w *world) Rooms() ([]look.Room, error) { return slices.Clone(w.rooms), nil }

func (w *world) Detail(_ context.Context, name string, _ *look.Detail) *look.Detail {
	d := *w.detail
	if d.Name != name {
		d = look.Detail{Room: *w.m.find(name)}
	}
	return &d
}

func (w *world) Shown(_ context.Context, room string, opened []look.Item) {
	for _, i := range opened {
		w.shown = append(w.shown, room+" "+i.Kind)
	}
}

func (w *world) Inbox(context.Context, []look.Room) []look.Item { return w.items }

// send passes a message on, and carries out what comes of it.
func (w *world) send(msg tea.Msg) {
	_, cmd := w.m.Update(msg)
	w.carryOut(cmd)
	render(w, w.m)
}

func (w *world) carryOut(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		w.quit = true
	case tea.BatchMsg:
		for _, c := range msg {
			w.carryOut(c)
		}
	case nil, tickMsg:
	default:
		w.send(msg)
	}
}

var named = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "end": tea.KeyEnd, "home": tea.KeyHome, "pgup": tea.KeyPgUp}

// keys types keys: names of keys, and other words letter by letter with a blank for each
// underscore.
func (w *world) keys(words string) {
	w.Helper()
	for _, word := range strings.Fields(words) {
		if letter, ok := strings.CutPrefix(word, "ctrl+"); ok {
			w.send(tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl})
			continue
		}
		if code, ok := named[word]; ok {
			w.send(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range strings.ReplaceAll(word, "_", " ") {
			w.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func (w *world) wantRan(want ...command) {
	w.Helper()
	if len(w.ran) != len(want) || len(want) > 0 && !reflect.DeepEqual(w.ran, want) {
		w.Errorf("ran %q\nnot %q", w.ran, want)
	}
	w.ran = nil
}

func (w *world) wantStatus(part string) {
	w.Helper()
	if frame := string(render(w, w.m)); !strings.Contains(frame, part) {
		w.Errorf("the screen does not say %q:\n%s", part, frame)
	}
}

func run(stdin string, args ...string) command { return command{args, stdin} }

const paymentsPath = home + "/src/payments"

// common are the flags that every command gets.
func common(args ...string) []string {
	return append(args, "--path", paymentsPath, "--agent", me, "--json")
}

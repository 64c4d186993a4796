package guard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/identity/harness"
)

func init() { Patience, lockPatience = time.Minute, time.Minute } // on a busy machine

// rooms maps paths to their stick; "broken" fails.
type rooms map[string]*Stick

func (r rooms) Stick(_ context.Context, path string, _ payload.Call) (*Stick, error) {
	if path == "/broken" {
		return nil, errors.New("unreadable")
	}
	return r[path], nil
}

func (r rooms) Held(context.Context, payload.Call, func(string) bool) []*Stick { return nil }

func (r rooms) Neighbours(context.Context, string, payload.Call) []Neighbour { return nil }

func TestStop(t *testing.T) {
	me := "claude:1"
	tests := []struct {
		name  string
		call  payload.Call
		stick *Stick
		says  string // part of the reason, "" for none
	}{
		{"holding", payload.Call{Dir: "/w"}, &Stick{Root: "/w", Me: me, Holder: me, Turn: 3}, "tt release"},
		{"reserved", payload.Call{Dir: "/w"}, &Stick{Root: "/w", Me: me, ReservedFor: me, Turn: 3}, "tt wait"},
		{"held back before, and nothing can be remembered", payload.Call{Dir: "/w", Repeated: true}, &Stick{Root: "/w", Me: me, Holder: me}, ""},
		{"a subagent", payload.Call{Dir: "/w", Subagent: true}, &Stick{Root: "/w", Me: me, Holder: me}, ""},
		{"work in the background", payload.Call{Dir: "/w", Busy: true}, &Stick{Root: "/w", Me: me, Holder: me}, ""},
		{"a job of its own runs", payload.Call{Dir: "/w"}, &Stick{Root: "/w", Me: me, Holder: me, Works: true}, ""},
		{"somebody else holds", payload.Call{Dir: "/w"}, &Stick{Root: "/w", Me: me, Holder: "codex:2"}, ""},
		{"not a member", payload.Call{Dir: "/w"}, &Stick{Root: "/w", Holder: "codex:2"}, ""},
		{"not a member of an idle room", payload.Call{Dir: "/w"}, &Stick{Root: "/w"}, ""},
		{"no room", payload.Call{Dir: "/w"}, nil, ""},
		{"unknown directory", payload.Call{}, nil, ""},
		{"unreadable", payload.Call{Dir: "/broken"}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.call.Kind, tt.call.Harness = harness.KindStop, harness.ClaudeCode
			got := Stop(context.Background(), tt.call, rooms{"/w": tt.stick}, SeenStore{})
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("says %q, want %q", got, tt.says)
			}
		})
	}
}

func TestEdit(t *testing.T) {
	r := rooms{
		"/held":   {Root: "/held", Me: "claude:1", Holder: "codex:2", Turn: 5},
		"/held/a": {Root: "/held", Me: "claude:1", Holder: "codex:2", Turn: 5},
		"/ill/a":  {Root: "/ill", Me: "claude:1", Holder: "codex:2", Trouble: "It has ended. Do: tt wait"},
		"/mine/a": {Root: "/mine", Me: "claude:1", Holder: "claude:1"},
		"/idle/a": {Root: "/idle", Me: "claude:1"},
		"/next/a": {Root: "/next", Me: "claude:1", ReservedFor: "codex:2"},
		"/out/a":  {Root: "/out", Holder: "codex:2"},
		"/far/a":  {Root: "/far", Me: "codex:1", Holder: "codex:1", Turn: 5, Unconfirmed: "since 12:00"},
		"/cut/a":  {Root: "/cut", Me: "codex:1", Turn: 5, Unconfirmed: "since 12:00"},
	}
	tests := []struct {
		name   string
		call   payload.Call
		refuse bool
	}{
		{"held by another", payload.Call{Dir: "/held", Paths: []string{"/held/a"}}, true},
		{"the directory counts where no file is named", payload.Call{Dir: "/held"}, true},
		{"something is wrong with the holder", payload.Call{Dir: "/ill/a"}, true},
		{"a file outside the room is free", payload.Call{Dir: "/held", Paths: []string{"/tmp/notes"}}, false},
		{"one of several files", payload.Call{Dir: "/held", Paths: []string{"/tmp/notes", "/held/a"}}, true},
		{"mine", payload.Call{Dir: "/mine", Paths: []string{"/mine/a"}}, false},
		{"idle", payload.Call{Dir: "/idle", Paths: []string{"/idle/a"}}, false},
		{"reserved is not held", payload.Call{Dir: "/next", Paths: []string{"/next/a"}}, false},
		{"a stranger", payload.Call{Dir: "/out", Paths: []string{"/out/a"}}, true},
		{"mine, and not confirmed", payload.Call{Dir: "/far", Paths: []string{"/far/a"}}, true},
		{"mine, and the lease is over", payload.Call{Dir: "/cut", Paths: []string{"/cut/a"}}, true},
		{"unreadable", payload.Call{Dir: "/broken"}, false},
		{"nothing known", payload.Call{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.call.Kind, tt.call.Harness = harness.KindEdit, harness.Codex
			got, writes, _ := Edit(context.Background(), tt.call, r)
			if (len(writes) > 0) != (tt.name == "mine") || len(writes) > 0 && !slices.Equal(writes[0].Files, tt.call.Paths) {
				t.Errorf("records %q", writes)
			}
			if (got != "") != tt.refuse {
				t.Fatalf("says %q", got)
			}
			if tt.refuse && !((strings.Contains(got, "codex:") || strings.Contains(got, "since 12:00")) && strings.Contains(got, "tt wait")) {
				t.Errorf("%q says neither why nor the way out", got)
			}
			if trouble := r[tt.call.Dir]; trouble != nil && !strings.HasSuffix(got, trouble.Trouble) {
				t.Errorf("%q does not say what is wrong with the holder", got)
			}
		})
	}
}

// A turn of the model that a notification has started looks to the harness as if a
// guard had held the agent back, so it is told once in each turn of the stick all the
// same.
func TestOneStopForEachTurnOfTheStick(t *testing.T) {
	for _, id := range harness.IDs() {
		for _, repeated := range []bool{false, true} {
			seen := SeenStore{Dir: filepath.Join(t.TempDir(), "told")}
			stick := &Stick{Root: "/w", Me: "a:1", Holder: "a:1", Turn: 3}
			other := &Stick{Root: "/v", Me: "a:1", Holder: "a:1", Turn: 3}
			r := rooms{"/w": stick, "/v": other}
			call := payload.Call{Harness: id, Kind: harness.KindStop, SessionID: "c1", Dir: "/w", Repeated: repeated}
			says := func(call payload.Call) bool { return Stop(context.Background(), call, r, seen) != "" }
			if !says(call) || says(call) {
				t.Errorf("%s, repeated %v: not once", id, repeated)
			}
			inOther := call
			inOther.Dir = "/v"
			if !says(inOther) || says(call) || says(inOther) {
				t.Errorf("%s, repeated %v: not once in each of two workspaces", id, repeated)
			}
			if stick.Turn = 4; !says(call) || says(call) {
				t.Errorf("%s, repeated %v: not once in another turn", id, repeated)
			}
			another := call
			if another.SessionID = "c2"; !says(another) {
				t.Errorf("%s, repeated %v: silent to another session", id, repeated)
			}
			unnamed := call
			unnamed.SessionID = ""
			if says(unnamed) != (!repeated && harness.Get(id).Input.Repeated != "") {
				t.Errorf("%s, repeated %v: without a memory the harness's own word counts", id, repeated)
			}
		}
	}
}

func TestSeenStoreForgetsOldSessions(t *testing.T) {
	seen := SeenStore{Dir: filepath.Join(t.TempDir(), "told")}
	call := payload.Call{Harness: harness.Antigravity, SessionID: "old"}
	for i := range 2 {
		if first, remembered := seen.First(call, "x"); first != (i == 0) || !remembered {
			t.Fatal("not remembered")
		}
	}
	entries, err := os.ReadDir(seen.Dir)
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	then := time.Now().Add(-forgetAfter - time.Hour)
	for _, e := range entries { // the lock, too
		if err := os.Chtimes(filepath.Join(seen.Dir, e.Name()), then, then); err != nil {
			t.Fatal(err)
		}
	}
	if first, _ := seen.First(payload.Call{Harness: harness.Antigravity, SessionID: "new"}, "x"); !first {
		t.Error("a new session is not spoken to")
	}
	if entries, _ := os.ReadDir(seen.Dir); len(entries) != 2 {
		t.Errorf("still there: %v", entries)
	}
}

// What hooks of one session say at the same time is all remembered.
func TestSeenStoreAtTheSameTime(t *testing.T) {
	call := payload.Call{Harness: harness.Antigravity, SessionID: "s"}
	for range 50 {
		seen := SeenStore{Dir: t.TempDir()}
		var group sync.WaitGroup
		for i := range rememberedMessages {
			group.Go(func() { seen.First(call, strconv.Itoa(i)) })
		}
		group.Wait()
		for i := range rememberedMessages {
			if first, _ := seen.First(call, strconv.Itoa(i)); first {
				t.Fatal("forgotten", i)
			}
		}
	}
}

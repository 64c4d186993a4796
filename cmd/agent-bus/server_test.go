package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/doctor"
)

func TestAPanicIsAnswered(t *testing.T) {
	t.Parallel()
	s := newStage(t, true)
	srv, transport := s.newServer()
	var log bytes.Buffer
	srv.log = slog.New(slog.NewTextHandler(&log, nil))
	srv.add(taking(tool{name: "explode", description: "It does."},
		func(context.Context, *call, *tools.None) (tools.Result, error) { panic("boom") }))
	p := s.connected(transport, "2025-06-18", nil)
	mentions(t, p.refused("INTERNAL", "explode", `{}`).text, "boom", "bug")
	mentions(t, log.String(), "boom", "server_test.go") // with the stack
	equal(t, "ping", p.ok("ping", `{}`)["ok"], any(true))
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, true)
		var mu sync.Mutex
		var got []float64
		options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			if n.Params.ProgressToken == "quiet" || n.Params.Total != 7 {
				t.Errorf("a report: %+v", n.Params)
			}
			got = append(got, n.Params.Progress)
		}}
		s.pink()
		p := s.peerIn("2025-06-18", options)
		p.join(s.id, "red")
		for _, token := range []any{nil, "loud"} {
			params := callParams("pending_list", f(`{"topic_id":%q,"wait_seconds":7}`, s.id))
			if token != nil {
				params.SetProgressToken(token)
			}
			exactly(s, took(func() { _, _ = p.client.CallTool(context.Background(), params) }), 7*time.Second)
		}
		mu.Lock()
		defer mu.Unlock()
		equal(t, "reports", got, []float64{2, 4, 6})
	})
}

func TestADamagedTopicIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red := s.as("red")
	for range 3 {
		red.asks()
	}
	other := red.made("blue")
	s.damage()
	b := red.ok("topic_list", `{}`)
	equal(t, "context", warnedOf(t, b, "TOPIC_DAMAGED")[0]["topic_id"], any(s.id))
	equal(t, "topic", b["topics"].([]any)[0].(map[string]any)["topic_id"], any(other))
	equal(t, "topics", len(b["topics"].([]any)), 1)
	r := red.refused("CORRUPT_ROOM", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
	mentions(t, r.text, "journal.jsonl", "tt doctor")
	_, _, errs := s.cli("", "cli", "topics", "list")
	mentions(t, errs, s.id)
}

// TestALostQuestionStaysOpen: a repair keeps the question whose text cannot be read any more.
func TestALostQuestionStaysOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	lost := red.asks()
	red.asks()
	s.damage()
	store, err := fsroom.Open(s.dir, fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	doctor.Repair(s.context(), fsroom.At(store, roomtypes.Topics(), s.id))
	for _, format := range []string{"--text", "--json"} {
		status, out, errs := s.cli("", "cli", "export", s.id, format)
		equal(t, errs, status, 0)
		mentions(t, out, lost)
	}
	equal(t, "open", len(cat.offered()), 2)
	cat.ok("answer", s.responses(item(lost, `["next?"]`, "")))
}

func TestAdminReads(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	red, cat := s.as("red"), s.as("cat")
	red.ok("ask", f(`{"topic_id":%q,"question":"# why?\nand \u001b[31mhow","wait_seconds":0}`, s.id))
	gone := red.asks()
	red.ok("ask_cancel", s.on(gone, `"reason":"two\nlines"`))
	cat.ok("answer", s.responses(item(cat.offered()[0], `["next\n?"]`, `,"repo_pointers":["main.go"]`)))
	cat.ok("topic_close", f(`{"topic_id":%q,"reason":"done"}`, s.id))
	for _, name := range []string{s.id, "pink"} {
		status, out, errs := s.cli("", "cli", "topics", "show", name)
		equal(t, errs, status, 0)
		mentions(t, out, "pink", s.id, "closed", "done", "0 answered, 1 cancelled", "1 answer", "# why?…", gone)
		status, out, _ = s.cli("", "cli", "export", name)
		equal(t, "status", status, 0)
		mentions(t, out, "# pink\n", "- reason: done\n", "## red asks (", "# why?\nand", "### cat answers", "because", "- main.go\n", "- next ?\n", "Cancelled: two lines\n")
		if strings.Contains(out, "\x1b") {
			t.Error("an escape sequence got through")
		}
	}
	status, out, _ := s.cli("", "cli", "topics", "show", "pink", "--json")
	mentions(t, out, `"counts":{"total":2,"pending":1`, `"question":"# why?\nand \u001b[31mhow"`, `"reason":"two\nlines"`)
	equal(t, "status", status, 0)
	status, _, errs := s.cli("", "cli", "topics", "show", "nope")
	equal(t, "status", status, 1)
	mentions(t, errs, "TOPIC_NOT_FOUND", "topics list")
	if status, _, _ = s.cli("", "cli", "topics", "list", "--limit", "0"); status != 2 {
		t.Errorf("--limit 0: status %d", status)
	}
	_, out, _ = s.cli("", "cli", "topics", "list", "--status", "open")
	equal(t, "open", out, "No topics found. There are others; see --status all.\n")
}

func TestHelpNamesEveryLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	_, out, _ := s.cli("", "help", "environment")
	_, err := tools.SettingsFrom(func(name string) string {
		mentions(t, out, name)
		return ""
	})
	if err != nil {
		t.Error(err)
	}
}

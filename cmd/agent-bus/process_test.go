package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// waiting starts a server that waits in ask, as seen by another agent.
func waiting(t *testing.T) (s *stage, r *raw, cat *peer, question string) {
	s = newStage(t, false)
	cat = s.as("cat")
	r = s.raw()
	r.hello()
	r.result("topic_join", f(`{"topic_id":%q,"agent_name":"red"}`, s.id))
	r.call("7", "ask", f(`{"topic_id":%q,"question":"why?",%s}`, s.id, waitLong))
	return s, r, cat, cat.waitForQuestion()
}

func TestClosedInputEndsAWait(t *testing.T) {
	t.Parallel()
	_, r, cat, q := waiting(t)
	r.stdin.Close()
	status, said := r.ends()
	equal(t, "exit status", status, 0)
	// Whoever still listens learns which question it was.
	mentions(t, quoted(said), q, "timeout")
	r.quiet()
	cat.answers(q) // no lock is left
}

func TestSignalsEndAWait(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			_, r, cat, q := waiting(t)
			if err := r.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			status, said := r.ends()
			equal(t, "exit status", status, 0)
			mentions(t, quoted(said), q)
			r.quiet()
			cat.answers(q)
		})
	}
}

func TestADeadReaderIsNoDisaster(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	cmd := s.command()
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	if _, err := stdin.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	stdin.Close()
}

func TestCallsBeforeTheEndAreAnswered(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	r := s.raw()
	r.hello()
	for i := range 20 {
		r.call(f("%d", i), "topic_create", `{"mode":"new"}`)
	}
	r.stdin.Close()
	status, said := r.ends()
	equal(t, "exit status", status, 0)
	equal(t, "answers", len(said), 20)
	equal(t, "topics", len(s.peer().ok("topic_list", `{}`)["topics"].([]any)), 20)
}

func TestGarbageIsAnswered(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	r := s.raw()
	r.hello()
	for line, want := range map[string]string{
		`garbage`:                                     `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`,
		`{"jsonrpc":"2.0","id":1,`:                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`,
		"\xff\xfe":                                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`,
		`{"id":5,"method":"ping"}`:                    `{"jsonrpc":"2.0","id":5,"error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":"x","method":7}`:       `{"jsonrpc":"2.0","id":"x","error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:   `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":6}`:                    `{"jsonrpc":"2.0","id":6,"error":{"code":-32600}}`,
		`7`:                                           `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`,
		`[]`:                                          `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`,
		`{"a":` + strings.Repeat("[", 5000):           `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                `{"jsonrpc":"2.0","id":1.5,"error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`:   `{"jsonrpc":"2.0","id":9007199254740992,"error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":2.0,"method":"ping"}`:                `{"jsonrpc":"2.0","id":2,"result":{}}`,
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":7}`: `{"jsonrpc":"2.0","id":8,"error":{"code":-32602}}`,
		`{"jsonrpc":"2.0","id":3,"method":"no/such"}`:               `{"jsonrpc":"2.0","id":3,"error":{"code":-32601}}`,
		strings.Repeat("x", 17<<20):                                 `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`,
		`{"jsonrpc":"2.0","id":4,"method":"ping"}` + "\r":           `{"jsonrpc":"2.0","id":4,"result":{}}`,
	} {
		r.send(line, "", "  ")
		got := r.next()
		if e, ok := got["error"].(map[string]any); ok {
			delete(e, "message")
		}
		same(t, f("%.40q", line), any(got), want)
	}
	// Broken answers are not answered.
	r.send(`{"jsonrpc":"2.0","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`)
	equal(t, "ping", r.result("ping", `{}`)["ok"], any(true))
	r.stdin.Close()
	status, said := r.ends()
	equal(t, "exit status", status, 0)
	equal(t, "said", len(said), 0)
}

// TestAWrongHandshakeIsAnswered: with a code of JSON-RPC and without the names of Go types,
// and the client can try again.
func TestAWrongHandshakeIsAnswered(t *testing.T) {
	t.Parallel()
	r := newStage(t, false).raw()
	for line, code := range map[string]float64{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`: -32602,
		callLine("2", "ping", `{}`): -32600,
	} {
		r.send(line)
		e := r.next()["error"].(map[string]any)
		if e["code"] != code || strings.Contains(e["message"].(string), "mcp.") {
			t.Errorf("%s: %v", line, e)
		}
	}
	r.hello()
}

// Each message of a batch is answered as if it had come alone.
func TestBatch(t *testing.T) {
	t.Parallel()
	r := newStage(t, false).raw()
	r.hello()
	r.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},7,` + callLine("2", "ping", `{}`) + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}]`)
	ids := map[any]bool{}
	for range 3 {
		ids[r.next()["id"]] = true
	}
	equal(t, "ids", ids, map[any]bool{1.0: true, 2.0: true, nil: true})
}

// A call that the client has cancelled has no answer, alone or in a batch.
func TestACancelledCallIsNotAnswered(t *testing.T) {
	t.Parallel()
	_, r, cat, q := waiting(t)
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	equal(t, "the next answer", r.result("ping", `{}`)["ok"], any(true))
	wait := f(`{"topic_id":%q,%s}`, cat.id, waitLong)
	r.result("ask_cancel", f(`{"topic_id":%q,"question_id":%q}`, cat.id, q))
	r.send("["+callLine("8", "pending_list", wait)+","+callLine("9", "ping", `{}`)+"]",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
	equal(t, "the answer of the batch", r.next()["id"], any(9.0))
	equal(t, "the next answer", r.result("ping", `{}`)["ok"], any(true))
	r.stdin.Close()
	_, said := r.ends()
	equal(t, "said", len(said), 0)
}

// Calls that are sent together happen in their order.
func TestCallsHappenInTheirOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	s.pink()
	for round := range 10 {
		r := s.raw()
		r.hello()
		name := f("red%d", round)
		lines := []string{callLine("0", "topic_join", f(`{"topic_id":%q,"agent_name":%q}`, s.id, name))}
		for i := range 8 {
			lines = append(lines, callLine(f("%d", i+1), "ask", f(`{"topic_id":%q,"question":"%d","wait_seconds":0}`, s.id, i)))
		}
		lines = append(lines, callLine("9", "no_such_tool", `{}`), callLine("10", "pending_list", f(`{"topic_id":%q,"mine":true}`, s.id)))
		r.send(strings.Join(lines, "\n"))
		for range lines {
			got := r.next()
			if got["id"] != 10.0 {
				continue
			}
			var texts string
			pending, _ := got["result"].(map[string]any)["structuredContent"].(map[string]any)["pending"].([]any)
			for _, q := range pending {
				texts += q.(map[string]any)["question_text"].(string)
			}
			equal(t, "asked, the newest first", texts, "76543210")
		}
	}
}

func TestAnIDIsUsedOnce(t *testing.T) {
	t.Parallel()
	s, r, cat, q := waiting(t)
	r.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	mentions(t, quoted(r.next()), `"id":7`, "still under way")
	cat.answers(q)
	mentions(t, quoted(r.next()), `"id":7`, "FOLLOW_UP_REQUIRED")
	r.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	mentions(t, quoted(r.next()), `"result":{}`)
	_ = s
}

func TestModernEraWithoutHandshake(t *testing.T) {
	t.Parallel()
	r := newStage(t, false).raw()
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","arguments":{},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	mentions(t, quoted(r.next()), `"spec_version":"v5.0"`, `"resultType":"complete"`)
}

// Text that is cut inside a character is refused and not stored as U+FFFD.
func TestHalfACharacter(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	cat, r := s.as("cat"), s.raw()
	r.hello()
	r.result("topic_join", f(`{"agent_name":"dog","topic_id":%q}`, s.id))
	q := cat.asks()
	for _, c := range []struct{ tool, arguments, wrong string }{
		{"ask", `"question":"cut \ud83d","wait_seconds":0`, "question"},
		{"ask", "\"question\":\"cut \xf0\x9f\",\"wait_seconds\":0", "question"},
		{"answer", f(`"responses":[{"question_id":%q,"answer_markdown":"\ud83d","suggested_followups":["x"]}]`, q), "responses[0].answer_markdown"},
	} {
		refusal := quoted(r.result(c.tool, f(`{"topic_id":%q,%s}`, s.id, c.arguments)))
		mentions(t, refusal, "INVALID_ARGUMENT", c.wrong)
	}
	equal(t, "pending", len(cat.ok("ask_poll", f(`{"topic_id":%q,"question_id":%q}`, s.id, q))["answers"].([]any)), 0)
}

func TestALimitThatIsNoNumber(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	s.env["AGENT_BUS_MAX_QUESTION_CHARS"] = "many"
	out, err := s.command().CombinedOutput()
	if err == nil {
		t.Error("it started")
	}
	mentions(t, string(out), "AGENT_BUS_MAX_QUESTION_CHARS", "many")
}

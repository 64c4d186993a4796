package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/talking-stick/tt/cmd/agent-bus/internal/tools"
)

func TestSmoke(t *testing.T)  { play(t, smokeScenarios()) }
func TestTopics(t *testing.T) { play(t, topicScenarios()) }
func TestJoin(t *testing.T)   { play(t, joinScenarios()) }

func smokeScenarios() []scenario {
	return []scenario{
		{"1 ping touches no file", func(s *stage) {
			same(s, "ping", s.peer().ok("ping", `{}`), f(`{"ok":true,"spec_version":"v5.0","data_dir":%q}`, s.dir))
			if _, err := os.Lstat(s.dir); !os.IsNotExist(err) {
				s.Errorf("the data directory: %v", err)
			}
		}},
		{"2 another format version", func(s *stage) {
			p := s.peer()
			p.made("pink")
			if err := os.WriteFile(filepath.Join(s.dir, "format"), []byte("9\n"), 0o600); err != nil {
				s.Fatal(err)
			}
			p.ok("ping", `{}`)
			mentions(s, p.refused("DB_SCHEMA_MISMATCH", "topic_list", `{}`).text, "agent-bus cli db wipe")
			if status, _, errs := s.cli("", "cli", "db", "wipe", "--yes"); status != 0 {
				s.Fatal(errs)
			}
			same(s, "topics", p.ok("topic_list", `{}`)["topics"], `[]`)
		}},
		{"3 twelve tools", toolsScenario},
		{"4 5 text, object and no empty warnings", func(s *stage) {
			// What every other reply is checked for too, here in all its parts.
			r := s.peer().call("topic_create", `{"name":"pink"}`)
			equal(s, "code", string(r.code), "")
			mentions(s, r.text, "pink", r.body["topic_id"].(string))
			if _, has := r.body["warnings"]; has {
				s.Errorf("warnings: %v", r.body)
			}
		}},
	}
}

func toolsScenario(s *stage) {
	p := s.peer()
	listed, err := p.client.ListTools(context.Background(), nil)
	if err != nil {
		s.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema != nil {
			s.Errorf("%s has an output schema", tool.Name)
		}
		singleTypes(s, tool)
	}
	equal(s, "names", strings.Join(names, " "), "answer ask ask_cancel ask_poll pending_list ping question_mark_answered topic_close topic_create topic_join topic_list topic_resolve")
	equal(s, "capabilities", quoted(p.client.InitializeResult().Capabilities), `{"tools":{}}`)
	mentions(s, p.client.InitializeResult().Instructions, "topic_join", "pending_list")
}

// singleTypes checks that each property has one type and says what it is for.
func singleTypes(t testing.TB, tool *mcp.Tool) {
	properties := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
	for name, p := range properties {
		property := p.(map[string]any)
		if _, ok := property["type"].(string); !ok || property["description"] == "" {
			t.Errorf("%s.%s: %v", tool.Name, name, property)
		}
	}
}

func topicScenarios() []scenario {
	return []scenario{
		{"6 7 create, and find again from another session", func(s *stage) {
			b := s.peer().ok("topic_create", `{"name":"pink"}`)
			id := b["topic_id"].(string)
			same(s, "created", b, f(`{"topic_id":%q,"name":"pink","status":"open"}`, id))
			if len(id) < 10 || len(id) > 16 {
				s.Errorf("the id is %q", id)
			}
			equal(s, "again", s.peer().ok("topic_create", `{"name":"pink"}`)["topic_id"], any(id))
		}},
		{"8 the first metadata stays", func(s *stage) {
			p := s.peer()
			p.ok("topic_create", `{"name":"pink","metadata":{"a":1}}`)
			p.ok("topic_create", `{"name":"pink","metadata":"{\"a\":2}"}`)
			row := p.ok("topic_list", `{}`)["topics"].([]any)[0].(map[string]any)
			same(s, "metadata", row["metadata"], `{"a":1}`)
		}},
		{"9 new twice, the later is found", func(s *stage) {
			p := s.peer()
			first, second := p.made("pink"), p.made("pink")
			if first == second {
				s.Errorf("both are %s", first)
			}
			equal(s, "resolved", p.ok("topic_resolve", `{"name":"pink"}`)["topic_id"], any(second))
		}},
		{"10 11 without a name", func(s *stage) {
			p := s.peer()
			for _, args := range []string{`{}`, `{"name":""}`, `{"name":null}`, `null`} {
				b := p.ok("topic_create", args)
				equal(s, "name", b["name"], any("topic-"+b["topic_id"].(string)))
			}
		}},
		{"12 13 wrong arguments", func(s *stage) {
			p := s.peer()
			mentions(s, p.refused("INVALID_ARGUMENT", "topic_create", `{"metadata":"red"}`).text, "metadata")
			p.refused("INVALID_ARGUMENT", "topic_create", `{"metadata":[1]}`)
			mentions(s, p.refused("INVALID_ARGUMENT", "topic_create", `{"mode":"bogus"}`).text, "mode", "reuse", "new")
			p.refused("INVALID_ARGUMENT", "topic_create", `["pink"]`)
			equal(s, "context", warnedOf(s, p.ok("topic_create", `{"colour":"pink"}`), "UNKNOWN_ARGUMENT")[0]["argument"], any("colour"))
		}},
		{"14 list newest first", func(s *stage) {
			p := s.peer()
			var want []any
			for _, name := range []string{"a", "b", "c"} {
				want = slices.Insert(want, 0, any(p.made(name)))
			}
			var got []any
			for _, row := range p.ok("topic_list", `{}`)["topics"].([]any) {
				topic := row.(map[string]any)
				got = append(got, topic["topic_id"])
				delete(topic, "topic_id")
				delete(topic, "name")
				if topic["created_at"] == nil {
					s.Errorf("no created_at: %v", topic)
				}
				delete(topic, "created_at")
				same(s, "row", row, `{"status":"open","closed_at":null,"close_reason":null,"metadata":null,"counts":{"total":0,"pending":0,"answered":0,"cancelled":0}}`)
			}
			equal(s, "order", got, want)
		}},
		{"15 list by status", func(s *stage) {
			p := s.peer()
			open, closed := p.made("a"), p.made("b")
			p.ok("topic_close", f(`{"topic_id":%q}`, closed))
			for args, want := range map[string][]any{
				`{}`: {open}, `{"status":"open"}`: {open}, `{"status":"closed"}`: {closed}, `{"status":"all"}`: {closed, open},
			} {
				var got []any
				for _, row := range p.ok("topic_list", args)["topics"].([]any) {
					got = append(got, row.(map[string]any)["topic_id"])
				}
				equal(s, args, got, want)
			}
			p.refused("INVALID_ARGUMENT", "topic_list", `{"status":"some"}`)
		}},
		{"16 17 close once", func(s *stage) {
			id := s.pink()
			first := s.peer().ok("topic_close", f(`{"topic_id":%q,"reason":"first"}`, id))
			same(s, "reason", first["close_reason"], `"first"`)
			same(s, "status", first["status"], `"closed"`)
			second := s.peer().ok("topic_close", f(`{"topic_id":%q,"reason":"second"}`, id))
			equal(s, "context", warnedOf(s, second, "ALREADY_CLOSED")[0]["topic_id"], any(id))
			delete(second, "warnings")
			equal(s, "closed again", second, first)
		}},
		{"18 a reason is not added later", func(s *stage) {
			p := s.peer()
			p.ok("topic_close", f(`{"topic_id":%q,"reason":""}`, s.pink()))
			b := p.ok("topic_close", f(`{"topic_id":%q,"reason":"late"}`, s.pink()))
			warnedOf(s, b, "ALREADY_CLOSED")
			equal(s, "reason", b["close_reason"], nil)
		}},
		{"19 close an unknown topic", func(s *stage) {
			p := s.peer()
			for _, id := range []string{"nope", "t00000000000", "../rooms", "t/../../../x", "."} {
				p.refused("TOPIC_NOT_FOUND", "topic_close", f(`{"topic_id":%q}`, id))
			}
			p.refused("INVALID_ARGUMENT", "topic_close", `{"topic_id":""}`)
			leavesNothing(s)
		}},
		{"20 22 resolve", func(s *stage) {
			p := s.peer()
			p.ok("topic_close", f(`{"topic_id":%q}`, s.pink()))
			told := p.refused("TOPIC_NOT_FOUND", "topic_resolve", `{"name":"pink"}`).text
			mentions(s, told, s.pink()+", which has it, is closed", "allow_closed=true")
			same(s, "closed", p.ok("topic_resolve", `{"name":"pink","allow_closed":"true"}`), f(`{"topic_id":%q,"name":"pink","status":"closed"}`, s.pink()))
			p.refused("INVALID_ARGUMENT", "topic_resolve", `{"name":""}`)
			p.refused("TOPIC_NOT_FOUND", "topic_resolve", `{"name":"Pink"}`)
		}},
		{"21 open beats closed", func(s *stage) {
			p := s.peer()
			open, closed := p.made("pink"), p.made("pink")
			p.ok("topic_close", f(`{"topic_id":%q}`, closed))
			equal(s, "resolved", p.ok("topic_resolve", `{"name":"pink","allow_closed":true}`)["topic_id"], any(open))
		}},
		{"23 a closed one is not reused", func(s *stage) {
			p := s.peer()
			p.ok("topic_close", f(`{"topic_id":%q}`, s.pink()))
			if again := p.ok("topic_create", `{"name":"pink"}`); again["topic_id"] == any(s.pink()) {
				s.Errorf("reused %v", again)
			}
		}},
		{"24 eight at once make one topic", func(s *stage) {
			// Ten names, so that they meet often.
			var creates []func()
			for range 8 {
				p := s.peer()
				creates = append(creates, func() {
					for i := range 10 {
						p.call("topic_create", f(`{"name":"pink%d"}`, i))
					}
				})
			}
			all(creates...)
			equal(s, "topics", len(s.peer().ok("topic_list", `{"status":"all"}`)["topics"].([]any)), 10)
		}},
		{"no way out of the directory", func(s *stage) {
			p := s.peer()
			if err := os.CopyFS(filepath.Join(s.dir, "rooms", "copy"), os.DirFS(filepath.Join(s.dir, "topics", s.pink()))); err != nil {
				s.Fatal(err)
			}
			for _, id := range []string{"../rooms/copy", "../topics/" + s.pink(), s.pink() + "/.", strings.ToUpper(s.pink())} {
				p.refused("TOPIC_NOT_FOUND", "topic_close", f(`{"topic_id":%q}`, id))
			}
		}},
	}
}

// leavesNothing checks that no directory was made for topics that are none.
func leavesNothing(s *stage) {
	s.Helper()
	_ = filepath.WalkDir(filepath.Dir(s.dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != filepath.Base(filepath.Dir(s.dir)) {
			s.Errorf("%s was made", path)
		}
		return nil
	})
}

func joinScenarios() []scenario {
	return []scenario{
		{"25 26 by id and by name", func(s *stage) {
			want := f(`{"topic_id":%q,"name":"pink","status":"open","agent_name":"red","data_dir":%q}`, s.pink(), s.dir)
			same(s, "joined", s.peer().join(s.pink(), "red"), want)
			same(s, "by name", s.peer().ok("topic_join", `{"name":"pink","agent_name":"cat"}`), strings.Replace(want, `"red"`, `"cat"`, 1))
		}},
		{"27 28 wrong arguments", func(s *stage) {
			p := s.peer()
			p.refused("INVALID_ARGUMENT", "topic_join", f(`{"agent_name":"red","topic_id":%q,"name":"pink"}`, s.pink()))
			p.refused("INVALID_ARGUMENT", "topic_join", `{"agent_name":"red"}`)
			p.refused("INVALID_ARGUMENT", "topic_join", `{"agent_name":"red","name":"","topic_id":null}`)
			for _, name := range []string{"", "  ", strings.Repeat("x", 65), "a\nb", "a\x00b"} {
				mentions(s, p.refused("INVALID_ARGUMENT", "topic_join", f(`{"agent_name":%s,"name":"pink"}`, quoted(name))).text, "agent_name")
			}
		}},
		{"29 30 trimmed, and counted in characters", func(s *stage) {
			equal(s, "trimmed", s.peer().ok("topic_join", f(`{"topic_id":%q,"agent_name":"  red "}`, s.pink()))["agent_name"], any("red"))
			long := strings.Repeat("é", 64)
			equal(s, "long", s.peer().join(s.pink(), long)["agent_name"], any(long))
		}},
		{"31 unknown topics", func(s *stage) {
			p := s.peer()
			p.refused("TOPIC_NOT_FOUND", "topic_join", `{"agent_name":"red","topic_id":"t00000000000"}`)
			p.refused("TOPIC_NOT_FOUND", "topic_join", `{"agent_name":"red","name":"nope"}`)
			leavesNothing(s)
		}},
		{"32 33 closed topics", func(s *stage) {
			p := s.peer()
			p.ok("topic_close", f(`{"topic_id":%q}`, s.pink()))
			p.refused("TOPIC_NOT_FOUND", "topic_join", `{"agent_name":"red","name":"pink"}`)
			equal(s, "status", p.ok("topic_join", `{"agent_name":"red","name":"pink","allow_closed":true}`)["status"], any("closed"))
			equal(s, "by id", s.peer().join(s.pink(), "cat")["status"], any("closed"))
		}},
		{"34 a name is of one topic", func(s *stage) {
			red := s.as("red")
			red.refused("AGENT_NOT_JOINED", "ask", f(`{"topic_id":%q,"question":"why?"}`, red.made("blue")))
		}},
		{"35 after a restart", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			red.end()
			again := s.peer()
			again.refused("AGENT_NOT_JOINED", "ask", f(`{"topic_id":%q,"question":"why?"}`, s.id))
			warnedOf(s, again.join(s.id, "red"))
			equal(s, "status", again.ok("ask_cancel", s.on(q))["status"], any("cancelled"))
		}},
		{"a name in use", func(s *stage) {
			red, other := s.as("red"), s.peer()
			equal(s, "context", warnedOf(s, other.join(s.id, "red"), "AGENT_NAME_IN_USE")[0]["agent_name"], any("red"))
			warnedOf(s, s.peer().join(s.id, "Red"))
			other.end()
			// A process that another test is starting has the marks of this one for a moment.
			syscall.ForkLock.RLock()
			defer syscall.ForkLock.RUnlock()
			warnedOf(s, red.join(s.id, "red"))
		}},
		{"another name with open questions", func(s *stage) {
			red := s.as("red")
			q := red.asks()
			mentions(s, red.refused("INVALID_ARGUMENT", "topic_join", f(`{"topic_id":%q,"agent_name":"cat"}`, s.id)).text, "red", "cat")
			equal(s, "still red", len(red.offered()), 0)
			red.ok("question_mark_answered", s.on(q))
			red.join(s.id, "cat")
		}},
	}
}

func TestSchemasAreSimple(t *testing.T) {
	t.Parallel()
	limits, err := tools.SettingsFrom(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range toolTable() {
		data, err := json.Marshal(tools.Schema(tool.arguments(), limits.Limits))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"anyOf", "$ref", "additionalProperties", "null"} {
			if strings.Contains(string(data), `"`+word) {
				t.Errorf("%s has %s: %s", tool.name, word, data)
			}
		}
		if tool.name == "ask" {
			mentions(t, string(data), `"default":60`, `"required":["topic_id","question"]`)
		}
	}
}

package reach

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A standIn is a model that does what the newest text it gets tells it to, in directives:
//
//	[[sh COMMAND]]    call the shell tool of the harness, and wait for the result
//	[[slow N COMMAND]] think for N, a duration, and then the same
//	[[say TEXT]]      end the turn with TEXT
//	[[fail TEXT]]     answer with an error
//
// It speaks as much of the APIs of Anthropic, OpenAI and Google as the harnesses need.
type standIn struct {
	*httptest.Server
	habits map[string]string                         // what to do, as directives, where the newest text contains the key
	script func(session, text, result string) action // if it is not nil: what to do, by what has come since the model was last called

	mu       sync.Mutex // and of habits
	requests []request
	more     chan struct{} // closed when there is another request
}

// A request is one call of the model. Those without tools, for titles and the like, are
// not recorded.
type request struct {
	at      time.Time
	newest  string // what has come since the model was last called
	answer  string
	bytes   int    // of newest
	session string // what the user has called the session of the harness
}

// A said is one part of a conversation, in any of the APIs.
type said struct {
	byModel bool
	text    string // without results of tools
	result  string // of a tool
	calls   int    // of tools
}

func newStandIn(t *testing.T, habits map[string]string) *standIn {
	s := &standIn{habits: maps.Clone(habits), more: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(body); err == nil {
			body = z
		}
	}
	var in map[string]any
	_ = json.NewDecoder(body).Decode(&in)
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case r.Method != http.MethodPost:
		fmt.Fprint(w, `{"object":"list","data":[],"models":[]}`)
	case strings.HasSuffix(path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":10}`)
	case strings.HasSuffix(path, "/messages"):
		s.anthropic(w, in)
	case strings.HasSuffix(path, "/responses"):
		s.openAI(w, in)
	case strings.Contains(path, "enerateContent"):
		s.google(w, in, strings.Contains(path, "stream"))
	default:
		http.Error(w, `{"error":{"message":"not here"}}`, http.StatusNotFound)
	}
}

// An action is what the model answers: a call of a tool, or else a text.
type action struct {
	tool  string
	input map[string]any
	text  string
	fails bool
}

var sessionName = regexp.MustCompile(`session-[0-9]+`)

// learn gives the model another habit.
func (s *standIn) learn(key, habit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.habits[key] = habit
}

var directive = regexp.MustCompile(`\[\[(sh|slow|say|fail) ((?s:.*?))\]\]`)

// decide answers a conversation, and records the request.
func (s *standIn) decide(talk []said, tools []string) action {
	var todo [][]string
	var newest strings.Builder
	done, session := 0, ""
	s.mu.Lock()
	habits := maps.Clone(s.habits)
	s.mu.Unlock()
	for _, part := range talk {
		if name := sessionName.FindString(part.text); name != "" && session == "" {
			session = name
		}
		if part.byModel {
			done += part.calls
			newest.Reset()
			continue
		}
		newest.WriteString(part.text + part.result + "\n")
		found := directive.FindAllStringSubmatch(part.text, -1)
		for key, habit := range habits {
			if strings.Contains(part.text, key) {
				found = directive.FindAllStringSubmatch(habit, -1)
			}
		}
		if found != nil {
			todo, done = found, 0
		}
	}
	if s.script != nil && len(tools) > 0 {
		text, result := "", ""
		for _, part := range talk {
			if part.byModel {
				text, result = "", ""
				continue
			}
			text, result = text+part.text+"\n", result+part.result
		}
		a := s.script(session, text, result)
		if a.tool = shellOf(tools); a.input == nil {
			a.tool = ""
		} else if a.tool == "exec_command" {
			a.input = map[string]any{"cmd": a.input["command"]}
		}
		s.record(session, text+result, a)
		return a
	}
	if strings.Contains(newest.String(), "Generate a concise, single-line task title") { // Codex asks with each prompt until it gets one
		return action{text: `{"title":"Do as told"}`}
	}
	a := action{text: "ok"}
	var acts [][]string
	for _, d := range todo {
		if d[1] == "say" {
			a.text = d[2]
		} else {
			acts = append(acts, d)
		}
	}
	if done < len(acts) && acts[done][1] == "fail" {
		a.fails = true
	} else if shell := shellOf(tools); done < len(acts) && shell != "" {
		command := acts[done][2]
		if acts[done][1] == "slow" {
			pause, rest, _ := strings.Cut(command, " ")
			d, _ := time.ParseDuration(pause)
			time.Sleep(d)
			command = rest
		}
		a = action{tool: shell, input: map[string]any{"command": command, "description": "as told"}}
		if shell == "exec_command" {
			a.input = map[string]any{"cmd": command}
		}
	}
	if len(tools) > 0 {
		s.record(session, newest.String(), a)
	}
	return a
}

func shellOf(tools []string) string {
	for _, name := range []string{"Bash", "bash", "exec_command", "shell_command", "run_shell_command"} {
		if slices.Contains(tools, name) {
			return name
		}
	}
	return ""
}

func (s *standIn) record(session, newest string, a action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := a.text
	if a.tool != "" {
		answer = fmt.Sprint(a.tool, a.input)
	}
	s.requests = append(s.requests, request{time.Now(), newest, answer, len(newest), session})
	close(s.more)
	s.more = make(chan struct{})
}

// next returns the first request from number n on whose newest text contains all words,
// and its number; false if there is none within the limit.
func (s *standIn) next(n int, limit time.Duration, words ...string) (request, int, bool) {
	deadline := time.After(limit)
	for {
		s.mu.Lock()
		for ; n < len(s.requests); n++ {
			r := s.requests[n]
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.newest, w) }) {
				s.mu.Unlock()
				return r, n, true
			}
		}
		more := s.more
		s.mu.Unlock()
		select {
		case <-more:
		case <-deadline:
			return request{}, n, false
		}
	}
}

// since returns the requests from number n on.
func (s *standIn) since(n int) []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[n:])
}

// latest returns when the model was last asked.
func (s *standIn) latest() time.Time {
	all := s.since(0)
	return all[len(all)-1].at
}

func (s *standIn) count() int { return len(s.since(0)) }

// The three APIs. A part of a conversation is an object with strings and lists.

func (s *standIn) anthropic(w http.ResponseWriter, in map[string]any) {
	var talk []said
	for _, m := range objects(in["messages"]) {
		part := said{byModel: m["role"] == "assistant", text: textOf(m["content"])}
		for _, b := range objects(m["content"]) {
			switch b["type"] {
			case "tool_use":
				part.calls++
			case "tool_result":
				part.result += " <result: " + textOf(b["content"]) + ">"
			}
		}
		talk = append(talk, part)
	}
	a := s.decide(talk, names(objects(in["tools"]), "name"))
	if a.fails {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"the stand-in fails"}}`, http.StatusBadRequest)
		return
	}
	block, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": a.text}
	reason := "end_turn"
	if a.tool != "" {
		block = map[string]any{"type": "tool_use", "id": unique("toolu_"), "name": a.tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": encode(a.input)}
		reason = "tool_use"
	}
	usage := map[string]any{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := map[string]any{"id": unique("msg_"), "type": "message", "role": "assistant", "model": in["model"], "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	if in["stream"] != true {
		block["text"], message["stop_reason"] = a.text, reason
		if a.tool != "" {
			delete(block, "text")
			block["input"] = a.input
		}
		message["content"] = []any{block}
		fmt.Fprint(w, encode(message))
		return
	}
	stream(w, []map[string]any{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	})
}

func (s *standIn) openAI(w http.ResponseWriter, in map[string]any) {
	var talk []said
	for _, item := range objects(in["input"]) {
		kind, _ := item["type"].(string)
		switch {
		case strings.HasSuffix(kind, "_call_output"):
			talk = append(talk, said{result: " <result: " + textOf(item["output"]) + ">"})
		case strings.HasSuffix(kind, "_call"):
			talk = append(talk, said{byModel: true, calls: 1})
		case item["role"] != nil:
			talk = append(talk, said{byModel: item["role"] == "assistant", text: textOf(item["content"])})
		}
	}
	a := s.decide(talk, names(objects(in["tools"]), "name"))
	if a.fails {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"the stand-in fails"}}`, http.StatusBadRequest)
		return
	}
	item := map[string]any{
		"type": "message", "id": unique("msg_"), "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}},
	}
	if a.tool != "" {
		item = map[string]any{"type": "function_call", "id": unique("fc_"), "call_id": unique("call_"), "name": a.tool, "arguments": encode(a.input)}
	}
	usage := map[string]any{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
		"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0}}
	id := unique("resp_")
	whole := map[string]any{"id": id, "object": "response", "status": "completed", "output": []any{item}, "usage": usage}
	stream(w, []map[string]any{
		{"type": "response.created", "sequence_number": 0, "response": map[string]any{"id": id, "status": "in_progress"}},
		{"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
		{"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item},
		{"type": "response.completed", "sequence_number": 3, "response": whole},
	})
}

func (s *standIn) google(w http.ResponseWriter, in map[string]any, streamed bool) {
	var talk []said
	for _, c := range objects(in["contents"]) {
		part := said{byModel: c["role"] == "model", text: textOf(c["parts"])}
		for _, p := range objects(c["parts"]) {
			if p["functionCall"] != nil {
				part.calls++
			}
			if f, ok := p["functionResponse"].(map[string]any); ok {
				part.result += " <result: " + encode(f["response"]) + ">"
			}
		}
		talk = append(talk, part)
	}
	var tools []string
	for _, t := range objects(in["tools"]) {
		tools = append(tools, names(objects(t["functionDeclarations"]), "name")...)
	}
	a := s.decide(talk, tools)
	if a.fails {
		http.Error(w, `{"error":{"code":400,"message":"the stand-in fails","status":"INVALID_ARGUMENT"}}`, http.StatusBadRequest)
		return
	}
	part := map[string]any{"text": a.text}
	if a.tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": a.tool, "args": a.input}}
	}
	answer := map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	if !streamed {
		fmt.Fprint(w, encode(answer))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\n", encode(answer))
}

func stream(w http.ResponseWriter, events []map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
}

// textOf returns the text of a content: a string, or a list of objects with texts.
func textOf(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var parts []string
	for _, b := range objects(content) {
		if text, ok := b["text"].(string); ok {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

func objects(list any) (all []map[string]any) {
	values, _ := list.([]any)
	for _, v := range values {
		if o, ok := v.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

func names(list []map[string]any, key string) (all []string) {
	for _, o := range list {
		if name, ok := o[key].(string); ok {
			all = append(all, name)
		}
	}
	return all
}

func encode(v any) string {
	text, _ := json.Marshal(v) // maps, strings and numbers always have an encoding
	return string(text)
}

var ids struct {
	sync.Mutex
	n int
}

func unique(prefix string) string {
	ids.Lock()
	defer ids.Unlock()
	ids.n++
	return fmt.Sprintf("%s%020d", prefix, ids.n)
}

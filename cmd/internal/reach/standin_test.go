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
//	[[tool NAME INPUT]] call another tool, with an object in JSON, or of apply_patch a patch
//	[[say TEXT]]      end the turn with TEXT
//	[[fail TEXT]]     answer with an error
//
// It speaks as much of the APIs of Anthropic, OpenAI (both) and Google as the harnesses need.
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
	case strings.HasSuffix(path, "/chat/completions"):
		s.chat(w, in)
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

var directive = regexp.MustCompile(`\[\[(sh|slow|tool|say|fail) ((?s:.*?))\]\]`)

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
		for i, d := range found {
			if d[1] == "fail" && i < len(found)-1 { // what follows is the next prompt, which the harness has put behind the one that failed
				found = found[i+1:]
				break
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
	} else if done < len(acts) && acts[done][1] == "tool" && len(tools) > 0 {
		name, input, _ := strings.Cut(acts[done][2], " ")
		if a = (action{tool: name}); json.Unmarshal([]byte(input), &a.input) != nil {
			a.input = map[string]any{"input": input}
		}
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

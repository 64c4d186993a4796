package reach

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// The APIs. A part of a conversation is an object with strings and lists.

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
	if a.tool == "apply_patch" {
		item = map[string]any{"type": "custom_tool_call", "id": unique("ctc_"), "call_id": unique("call_"), "status": "completed", "name": a.tool, "input": a.input["input"]}
	} else if a.tool != "" {
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

// chat is the older API of OpenAI, which others speak.
func (s *standIn) chat(w http.ResponseWriter, in map[string]any) {
	var talk []said
	for _, m := range objects(in["messages"]) {
		part := said{byModel: m["role"] == "assistant", text: textOf(m["content"]), calls: len(objects(m["tool_calls"]))}
		if m["role"] == "tool" {
			part = said{result: " <result: " + part.text + ">"}
		}
		talk = append(talk, part)
	}
	var tools []string
	for _, t := range objects(in["tools"]) {
		tools = append(tools, names([]map[string]any{t["function"].(map[string]any)}, "name")...)
	}
	a := s.decide(talk, tools)
	if a.fails {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"the stand-in fails"}}`, http.StatusBadRequest)
		return
	}
	reason, said := "stop", map[string]any{"role": "assistant", "content": a.text}
	if a.tool != "" {
		call := map[string]any{"index": 0, "id": unique("call_"), "type": "function", "function": map[string]any{"name": a.tool, "arguments": encode(a.input)}}
		reason, said = "tool_calls", map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{call}}
	}
	answer := map[string]any{"id": unique("chat_"), "created": 1, "model": in["model"], "usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
	if in["stream"] != true {
		answer["object"], answer["choices"] = "chat.completion", []any{map[string]any{"index": 0, "message": said, "finish_reason": reason}}
		fmt.Fprint(w, encode(answer))
		return
	}
	answer["object"] = "chat.completion.chunk"
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []any{map[string]any{"index": 0, "delta": said, "finish_reason": nil}, map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}} {
		answer["choices"] = []any{choice}
		fmt.Fprintf(w, "data: %s\n\n", encode(answer))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
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

package stdio

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// accept puts the messages of a line into the queue and answers what is none.
func (c *conn) accept(l line) {
	var problem *refusal
	switch {
	case l.err != nil:
		problem = refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line is longer than %d bytes and was skipped", MaxLine))
	case !json.Valid(l.data):
		problem = refuse(nil, jsonrpc.CodeParseError, "the line is not JSON; each line has to be one whole JSON-RPC message")
	case l.data[0] == '[':
		c.acceptBatch(l.data)
		return
	default:
		problem = c.acceptOne(l.data, nil)
	}
	if problem != nil {
		c.reply(problem)
	}
}

// neverAnswered is a call that stays under way for as long as the connection
// does, so nobody must wait for its answer.
const neverAnswered = "subscriptions/listen"

// acceptOne queues the message. One that cannot be is returned as its answer, nil
// where it must not have any.
func (c *conn) acceptOne(data []byte, b *batch) *refusal {
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return c.invalid(data, err)
	}
	if problem := c.register(msg, data, b); problem != nil {
		return problem
	}
	c.queue = append(c.queue, msg)
	return nil
}

// register notes a call as open, and an open one as cancelled. It returns the
// answer to a message that must not be delivered, because its sender would wait
// for an answer for ever.
func (c *conn) register(msg jsonrpc.Message, data []byte, b *batch) *refusal {
	if r, ok := msg.(*jsonrpc.Response); ok && r.Result == nil && r.Error == nil {
		return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "the message has neither a method nor a result")
	}
	r, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
	case !r.IsCall() && string(rawID(data)) == "null":
		return refuse(nil, jsonrpc.CodeInvalidRequest, "the id of a call must not be null")
	case r.Method == "notifications/cancelled":
		c.cancel(r.Params)
	case willAnswer(r):
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[r.ID] != nil {
			return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "a call with this id is still under way")
		}
		c.open[r.ID] = &call{batch: b}
	}
	return nil
}

// cancel notes that the client does not want the answer of a call.
func (c *conn) cancel(params json.RawMessage) {
	var p struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if open := c.open[id]; open != nil {
		open.cancelled = true
	}
}

func (c *conn) invalid(data []byte, err error) *refusal {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) == nil && (members["result"] != nil || members["error"] != nil) {
		// A broken answer. To answer it would make two programs shout at each other.
		c.log("ignored an answer: %v", err)
		return nil
	}
	return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message: "+err.Error())
}

// rawID returns the id of a message that may lack everything else, nil if it has
// none that could be echoed.
func rawID(data []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil || len(m.ID) == 0 || m.ID[0] == '{' || m.ID[0] == '[' {
		return nil
	}
	return m.ID
}

func (c *conn) reply(r *refusal) {
	c.log("%s", r.Error.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send(r.encode()); err != nil {
		c.log("could not answer: %v", err)
	}
}

func (c *conn) log(format string, args ...any) {
	if c.Log != nil {
		c.Log(format, args...)
	}
}

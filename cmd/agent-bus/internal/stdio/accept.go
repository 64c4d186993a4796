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
	if willAnswer(msg) {
		r := msg.(*jsonrpc.Request)
		c.mu.Lock()
		_, used := c.open[r.ID]
		if !used {
			c.open[r.ID] = b
		}
		c.mu.Unlock()
		if used {
			return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "a call with this id is still under way")
		}
	}
	c.queue = append(c.queue, msg)
	return nil
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

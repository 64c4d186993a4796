package stdio

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// accept returns the message of a line. If there is none that can be delivered, it returns
// nil, and answers unless it must not.
func (c *conn) accept(l line) jsonrpc.Message {
	if l.err != nil {
		c.reply(refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line is longer than %d bytes and was skipped", MaxLine)))
		return nil
	}
	if !json.Valid(l.data) {
		c.reply(refuse(nil, jsonrpc.CodeParseError, "the line is not JSON; each line has to be one whole JSON-RPC message"))
		return nil
	}
	msg, err := jsonrpc.DecodeMessage(l.data)
	if err != nil {
		c.reply(c.invalid(l.data, err))
		return nil
	}
	if problem := c.register(msg, l.data); problem != nil {
		c.reply(problem)
		return nil
	}
	return msg
}

// unansweredMethod is the method of a call that runs as long as the connection lasts, so
// nothing waits for its answer.
const unansweredMethod = "subscriptions/listen"

// register records a call as open, or an open call as cancelled. It returns the
// answer to a message that must not be delivered, because the server would never
// answer it.
func (c *conn) register(msg jsonrpc.Message, data []byte) *refusal {
	if r, ok := msg.(*jsonrpc.Response); ok && r.Result == nil && r.Error == nil {
		return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "the message has neither a method nor a result")
	}
	r, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
	case !r.IsCall() && string(rawID(data)) == "null":
		return refuse(nil, jsonrpc.CodeInvalidRequest, "the id of a call must not be null")
	case r.IsCall() && !echoed(rawID(data)):
		return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "the id of a call must be a string or a whole number below 2^53")
	case r.Method == "notifications/cancelled":
		c.cancel(r.Params)
	case r.IsCall() && r.Method != unansweredMethod:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[r.ID] != nil {
			return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "a call with this id is still under way")
		}
		c.open[r.ID] = &call{method: r.Method, end: c.Arrived(r)}
	}
	return nil
}

// cancel records that the client does not want the answer to a call.
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

// invalid returns the answer to what is no message, nil if it must not be answered.
func (c *conn) invalid(data []byte, err error) *refusal {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) == nil && (members["result"] != nil || members["error"] != nil) {
		// A malformed answer. Answering it could make both sides answer errors for ever.
		c.Log("ignored an answer: %v", err)
		return nil
	}
	return refuse(rawID(data), jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message: "+err.Error())
}

// rawID returns the id of a message that may be malformed, nil if it has no id that
// can be sent back.
func rawID(data []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil || len(m.ID) == 0 || m.ID[0] == '{' || m.ID[0] == '[' {
		return nil
	}
	return m.ID
}

// echoed reports whether the SDK answers a call under the id it was given, which it keeps
// as an int64 made from a float64.
func echoed(id json.RawMessage) bool {
	var number float64
	return json.Unmarshal(id, &number) != nil || number == math.Trunc(number) && math.Abs(number) < 1<<53
}

// coded returns the error of a call with a code of JSON-RPC. The SDK gives none to a
// call of the wrong form, and names its own types.
func coded(method string, err error) error {
	var known *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case strings.HasPrefix(err.Error(), "handling '"):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the params of " + method +
			" are not of the form that the protocol asks for"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

// reply answers with the refusal, which may be nil for none.
func (c *conn) reply(r *refusal) {
	if r == nil {
		return
	}
	c.Log("%s", r.Error.Message)
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := json.Marshal(r)
	if err == nil {
		err = c.send(data)
	}
	if err != nil {
		c.Log("could not answer: %v", err)
	}
}

// A refusal is the answer to a line that is not a message. The SDK's own type omits
// an id that is null, which JSON-RPC requires here.
type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if it is not known
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func refuse(id json.RawMessage, code int, message string) *refusal {
	r := &refusal{Version: "2.0", ID: id}
	r.Error.Code, r.Error.Message = code, message
	return r
}

package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A batch collects the answers to the messages of one array. The connection's lock
// guards it.
type batch struct {
	missing int // how many calls have no answer
	answers [][]byte
}

// acceptBatch queues the messages of an array.
func (c *conn) acceptBatch(data []byte) {
	var elements []json.RawMessage
	if err := json.Unmarshal(data, &elements); err != nil || len(elements) == 0 {
		c.reply(refuse(nil, jsonrpc.CodeInvalidRequest, "a batch must have at least one message"))
		return
	}
	b := new(batch)
	for _, element := range elements {
		queued := len(c.queue)
		problem := c.acceptOne(element, b)
		switch {
		case problem != nil:
			b.answers = append(b.answers, problem.encode())
		case len(c.queue) > queued && willAnswer(c.queue[queued]):
			b.missing++ // needs no lock: no call is answered before the queue is delivered
		}
	}
	if b.missing > 0 || len(b.answers) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.send(b.whole())
}

func willAnswer(msg jsonrpc.Message) bool {
	r, ok := msg.(*jsonrpc.Request)
	return ok && r.IsCall() && r.Method != unansweredMethod
}

// answered adds the answer to a call, nil if the call was cancelled. It returns the
// array of answers if it is complete and not empty, else nil.
func (b *batch) answered(answer []byte) []byte {
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	if b.missing--; b.missing > 0 || len(b.answers) == 0 {
		return nil
	}
	return b.whole()
}

func (b *batch) whole() []byte {
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

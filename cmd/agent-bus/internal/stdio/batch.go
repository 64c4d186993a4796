package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A batch collects the answers to the messages of one array. The lock of the
// connection guards it.
type batch struct {
	missing int // calls without an answer
	answers [][]byte
}

// acceptBatch queues the messages of an array.
func (c *conn) acceptBatch(data []byte) {
	var elements []json.RawMessage
	if err := json.Unmarshal(data, &elements); err != nil || len(elements) == 0 {
		c.reply(refuse(nil, jsonrpc.CodeInvalidRequest, "a batch must have at least one message"))
		return
	}
	// One answer is held back until all is queued, so that the batch is not
	// complete before.
	b := &batch{missing: 1}
	for _, element := range elements {
		queued := len(c.queue)
		problem := c.acceptOne(element, b)
		c.mu.Lock()
		if problem != nil {
			b.answers = append(b.answers, problem.encode())
		} else if len(c.queue) > queued && isCall(c.queue[queued]) {
			b.missing++
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if whole := b.answered(nil); whole != nil {
		_ = c.send(whole)
	}
}

func isCall(msg jsonrpc.Message) bool {
	r, ok := msg.(*jsonrpc.Request)
	return ok && r.IsCall()
}

// answered adds an answer and returns the whole array once it is complete, nil
// before and if there is nothing to say.
func (b *batch) answered(answer []byte) []byte {
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	b.missing--
	if b.missing > 0 || len(b.answers) == 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

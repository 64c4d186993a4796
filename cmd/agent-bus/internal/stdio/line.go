package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// A line is one line of the input, one message of a line that is a batch, or the error that
// was met instead. After an error other than errTooLong there are no more lines.
type line struct {
	data []byte
	err  error
}

var errTooLong = errors.New("line too long")

// readLines sends the lines of the input to c.lines until the input ends. It may
// outlive the connection, because a read from standard input cannot be interrupted.
func (c *conn) readLines() {
	r := bufio.NewReaderSize(c.In, 64<<10)
	for {
		data, err := readLine(r)
		if err == nil && len(data) == 0 {
			continue
		}
		var messages []json.RawMessage
		if err != nil || data[0] != '[' || json.Unmarshal(data, &messages) != nil || len(messages) == 0 {
			messages = []json.RawMessage{data}
		}
		for _, message := range messages {
			select {
			case c.lines <- line{message, err}:
			case <-c.closed:
				return
			}
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine returns the next line without white space around it. The input may
// end without a newline.
func readLine(r *bufio.Reader) ([]byte, error) {
	var whole []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(whole)+len(part) > MaxLine; !tooLong {
			whole = append(whole, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(whole)) > 0, err == nil:
			return bytes.TrimSpace(whole), nil
		}
		return nil, err
	}
}

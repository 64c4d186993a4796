package stdio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	most := strings.Repeat("y", MaxLine-1)
	r := bufio.NewReaderSize(strings.NewReader("one\r\n\n  two \n"+long+"\n"+most+"\n"+most+"yy\nafter\nlast"), 64)
	for _, want := range []string{"one", "", "two", long, most, "too long", "after", "last", "EOF"} {
		got, err := readLine(r)
		text := string(got)
		switch {
		case errors.Is(err, errTooLong):
			text = "too long"
		case errors.Is(err, io.EOF):
			text = "EOF"
		case err != nil:
			t.Fatal(err)
		}
		if text != want {
			t.Fatalf("got %.20q (%d), want %.20q (%d)", text, len(text), want, len(want))
		}
	}
}

// open connects a transport whose input the test writes.
func open(t *testing.T, out io.Writer, ending func()) (mcp.Connection, *Transport, *io.PipeWriter) {
	near, far := io.Pipe()
	wire := &Transport{In: near, Out: out, Ending: ending, Patience: time.Second, Log: t.Logf,
		Arrived: func(*jsonrpc.Request) func() { return func() {} }}
	c, err := wire.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close(); c.Close() })
	return c, wire, far
}

func respond(t *testing.T, c mcp.Connection, id float64) {
	t.Helper()
	made, err := jsonrpc.MakeID(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(context.Background(), &jsonrpc.Response{ID: made, Result: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
}

// TestEnd: at the end of the input, and at Stop, open calls may still answer, but
// not for longer than the patience lasts.
func TestEnd(t *testing.T) {
	for _, test := range []struct {
		stop, answered bool
		want           time.Duration
	}{{false, true, 300 * time.Millisecond}, {true, true, 300 * time.Millisecond}, {false, false, time.Second}, {true, false, time.Second}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				ended := 0
				c, wire, in := open(t, &out, func() { ended++ })
				go fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"slow"}`)
				if _, err := c.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
				if test.stop {
					wire.Stop()
					wire.Stop()
				} else {
					in.Close()
				}
				if test.answered {
					go func() {
						time.Sleep(300 * time.Millisecond) // of the virtual clock: it takes no time
						respond(t, c, 1)
					}()
				}
				started := time.Now()
				if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) {
					t.Errorf("the end is %v", err)
				}
				if got := time.Since(started); got != test.want || ended != 1 {
					t.Errorf("after %v, told %d times", got, ended)
				}
				if got := out.String(); (got != "") != test.answered {
					t.Errorf("written: %q", got)
				}
			})
		})
	}
}

// TestEachAnswerHasThePatience: many calls that are answered one after another are all waited
// for, also if that takes longer than the patience together.
func TestEachAnswerHasThePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c, _, in := open(t, &out, func() {})
		const calls = 5
		go func() {
			for i := range calls {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"slow"}`+"\n", i+1)
			}
			in.Close()
		}()
		for range calls {
			if _, err := c.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			for i := range calls {
				time.Sleep(700 * time.Millisecond) // of the virtual clock
				respond(t, c, float64(i+1))
			}
		}()
		started := time.Now()
		if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("the end is %v", err)
		}
		if got := time.Since(started); got != calls*700*time.Millisecond || strings.Count(out.String(), "\n") != calls {
			t.Errorf("after %v: %s", got, &out)
		}
	})
}

func TestNobodyWaitsForAListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, in := open(t, io.Discard, func() {})
		go func() {
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`)
			in.Close()
		}()
		started := time.Now()
		for {
			if _, err := c.Read(t.Context()); err != nil {
				break
			}
		}
		if got := time.Since(started); got != 0 {
			t.Errorf("it waited %v", got)
		}
	})
}

func TestReadEnds(t *testing.T) {
	c, _, _ := open(t, io.Discard, func() {})
	c.Close()
	if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("closed: %v", err)
	}
	c, _, _ = open(t, io.Discard, func() {})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := c.Write(gone, &jsonrpc.Response{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestABatchOfNotificationsHasNoAnswer(t *testing.T) {
	var out bytes.Buffer
	c, _, in := open(t, &out, func() {})
	go func() {
		fmt.Fprintln(in, `[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]`)
		in.Close()
	}()
	for _, want := range []string{"a", "b"} {
		msg, err := c.Read(t.Context())
		if err != nil || msg.(*jsonrpc.Request).Method != want {
			t.Fatalf("%v, %v", msg, err)
		}
	}
	if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) || out.Len() > 0 {
		t.Errorf("%v, %q", err, &out)
	}
}

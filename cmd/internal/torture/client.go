//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// A client speaks with an agent-bus of its own.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
	hung   *time.Timer
	calls  int
}

// An answer is what a tool said.
type answer struct {
	IsError    bool           `json:"isError"`
	Structured map[string]any `json:"structuredContent"`
}

// errMute is that the server ended, or its output did, before it said anything.
var errMute = errors.New("no answer")

// connect starts an agent-bus on a data directory, below other programs.
func (g *rig) connect(data string, under []string) (*client, error) {
	line := append(append([]string{}, under...), g.bus)
	c := &client{cmd: exec.Command(line[0], line[1:]...)}
	c.cmd.Env, c.cmd.Dir, c.cmd.Stderr = g.env(data), g.workspace, &c.stderr
	in, err := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err := errors.Join(err, err2, c.cmd.Start()); err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewScanner(out)
	c.out.Buffer(nil, 1<<20)
	c.hung = time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	return c, nil
}

// greet is the handshake.
func (c *client) greet() error {
	var hello any
	err := c.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "torture", "version": "1"},
	}, &hello)
	if err != nil {
		return err
	}
	return c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// call uses a tool.
func (c *client) call(tool string, args map[string]any) (a answer, err error) {
	err = c.request("tools/call", map[string]any{"name": tool, "arguments": args}, &a)
	return a, err
}

// must uses a tool that has to succeed.
func (c *client) must(tool string, args map[string]any) (map[string]any, error) {
	a, err := c.call(tool, args)
	if err == nil && a.IsError {
		err = fmt.Errorf("%s: %v", tool, a.Structured)
	}
	return a.Structured, err
}

func (c *client) send(message any) error {
	b, err := json.Marshal(message)
	if err == nil {
		_, err = c.in.Write(append(b, '\n'))
	}
	if err != nil {
		return errMute
	}
	return nil
}

// request sends a request and decodes its result.
func (c *client) request(method string, params, result any) error {
	c.calls++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.calls, "method": method, "params": params}); err != nil {
		return err
	}
	for c.out.Scan() {
		var reply struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  any             `json:"error"`
		}
		if err := json.Unmarshal(c.out.Bytes(), &reply); err != nil {
			return fmt.Errorf("the server said %q", c.out.Text())
		}
		if reply.ID != c.calls {
			continue
		}
		if reply.Error != nil {
			return fmt.Errorf("%s: %v", method, reply.Error)
		}
		return json.Unmarshal(reply.Result, result)
	}
	return errMute
}

// leave ends the session as clients do, and the server.
func (c *client) leave() result {
	_ = c.in.Close()
	for c.out.Scan() {
		continue
	}
	err := c.cmd.Wait()
	c.hung.Stop()
	return ended(err, "", c.stderr.String())
}

package jetstream_test

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
)

// What a proxy does with the next message to a room.
const (
	loseAnswer  = 1 // lets it pass, and breaks the connection instead of the answer
	loseRequest = 2 // breaks the connection instead
)

// A proxy stands between a client and a server.
type proxy struct {
	address string
	server  string
	next    atomic.Int32
	silent  atomic.Bool // nothing of what the server says gets through
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{address: l.Addr().String(), server: server}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var losing atomic.Bool // the answer of the server
	go func() {
		defer client.Close()
		defer server.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := server.Read(b)
			if err != nil || losing.Load() {
				return
			}
			if p.silent.Load() {
				continue
			}
			if _, err := client.Write(b[:n]); err != nil {
				return
			}
		}
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		if bytes.Contains(b[:n], []byte("PUB ttlog.")) {
			switch p.next.Swap(0) {
			case loseRequest:
				return
			case loseAnswer:
				losing.Store(true)
			}
		}
		if _, err := server.Write(b[:n]); err != nil {
			return
		}
	}
}

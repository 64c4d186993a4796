package main_test

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// hiccup is by how much packets are late now and then.
const hiccup = 800 * time.Millisecond

// A way is how long messages take to a server, and how often they go there and back.
type way struct {
	mu      sync.Mutex
	oneWay  time.Duration
	every   int // packets, of which one is late; 0: none is
	packets int
	trips   []*trips
}

// trips are the round trips of one connection. Messages that are sent together, before one is
// answered, make one.
type trips struct {
	mu    sync.Mutex
	n     int
	heard bool // the server has said something since the last one began
	ended bool
	name  string // of the client, with its process id
}

func scriptFar(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: far NAME RTT [EVERY]")
	}
	w := &networkOf(ts).proxy(ts, args[0]).way
	rtt, err := time.ParseDuration(args[1])
	ts.Check(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.oneWay, w.every = rtt/2, 0
	if len(args) > 2 {
		w.every, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
}

func scriptTrips(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: trips MOST CMD…")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	var w *way
	for _, p := range networkOf(ts).proxies {
		if p.data == ts.Getenv("TALKING_STICK_DATA_DIR") {
			w = &p.way
		}
	}
	w.mu.Lock()
	w.trips = nil
	w.mu.Unlock()
	cmd := scriptCommand(ts, args[1:])
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("%v: %s", err, out)
	}
	n, own := 0, fmt.Sprint("tt ", cmd.Process.Pid)
	for limit := time.Now().Add(time.Minute); n == 0 && time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		n = w.counted(own)
	}
	ts.Logf("%d round trips", n)
	if n == 0 || n > most {
		ts.Fatalf("it takes %d round trips, want at most %d", n, most)
	}
}

// counted returns the round trips of the connections with this name that have ended. To connect
// is one.
func (w *way) counted(name string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.trips {
		c.mu.Lock()
		if c.ended && c.name == name {
			n += 1 + c.n
		}
		c.mu.Unlock()
	}
	return n
}

func (w *way) connected() *trips {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &trips{}
	w.trips = append(w.trips, c)
	return c
}

func (c *trips) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = true
}

func (c *trips) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// pid returns the process id of the client.
func (c *trips) pid() (pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = fmt.Sscanf(c.name, "tt %d", &pid)
	return pid
}

// asks returns the connection of a client, and counts what comes from it.
func (c *trips) asks(client net.Conn) io.ReadCloser { return asking{client, c} }

// clientName finds what a client calls itself when it connects.
var clientName = regexp.MustCompile(`"name":"(tt \d+)"`)

type asking struct {
	net.Conn
	trips *trips
}

func (a asking) Read(b []byte) (int, error) {
	n, err := a.Conn.Read(b)
	a.trips.mu.Lock()
	defer a.trips.mu.Unlock()
	if name := clientName.FindSubmatch(b[:n]); name != nil && a.trips.name == "" {
		a.trips.name = string(name[1])
	}
	if n > 0 && a.trips.heard {
		a.trips.n, a.trips.heard = a.trips.n+1, false
	}
	return n, err
}

// late returns a writer to a connection on which everything arrives as late as the way is long.
// arrived is called when something has; it may be nil.
func (w *way) late(to net.Conn, arrived func()) io.WriteCloser {
	l := &lateConn{to, w, make(chan packet, 1<<10)}
	go func() {
		defer to.Close()
		for p := range l.packets {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				break
			}
			if arrived != nil {
				arrived()
			}
		}
		for range l.packets {
		}
	}()
	return l
}

type lateConn struct {
	to      net.Conn
	way     *way
	packets chan packet
}

type packet struct {
	due  time.Time
	data []byte
}

func (l *lateConn) Write(b []byte) (int, error) {
	l.packets <- packet{time.Now().Add(l.way.delay()), append([]byte(nil), b...)}
	return len(b), nil
}

func (l *lateConn) Close() error {
	close(l.packets)
	return nil
}

func (w *way) delay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packets++
	if w.every > 0 && w.packets%w.every == 0 {
		return w.oneWay + hiccup
	}
	return w.oneWay
}

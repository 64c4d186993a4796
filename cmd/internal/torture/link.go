//go:build linux

package torture

import (
	"net"
	"sync/atomic"
	"time"
)

// A link is a slow way from a machine to a server. What goes through is late, and one packet in so many
// later by far, as one is that was lost and is sent again.
type link struct {
	oneWay   time.Duration
	every    int64
	packets  atomic.Int64
	listener net.Listener
	closed   chan struct{}
}

const resent = 800 * time.Millisecond

// newLink returns a link that begins on the machine, at an address of its own.
func newLink(m *machine, to string, roundTrip time.Duration, every int64) (l *link, err error) {
	l = &link{oneWay: roundTrip / 2, every: every, closed: make(chan struct{})}
	m.in(func() { l.listener, err = net.Listen("tcp", m.ip+":0") })
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(l.closed)
		for {
			client, err := l.listener.Accept()
			if err != nil {
				return
			}
			server, err := m.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go l.carry(server, client)
			go l.carry(client, server)
		}
	}()
	return l, nil
}

// close returns when no connection is made any more.
func (l *link) close() {
	l.listener.Close()
	<-l.closed
}

func (l *link) carry(to, from net.Conn) {
	type packet struct {
		due  time.Time
		data []byte
	}
	packets := make(chan packet, 1<<10)
	defer close(packets)
	go func() {
		defer to.Close()
		defer from.Close()
		for p := range packets {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				break
			}
		}
		for range packets {
		}
	}()
	for {
		b := make([]byte, 32<<10)
		n, err := from.Read(b)
		if err != nil {
			return
		}
		due := time.Now().Add(l.oneWay)
		if l.packets.Add(1)%l.every == 0 {
			due = due.Add(resent)
		}
		packets <- packet{due, b[:n]}
	}
}

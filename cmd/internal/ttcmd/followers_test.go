package ttcmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// TestFollowersLoseNothing: eight agents send at once, two follow from the
// start, and a third is stopped again and again and goes on from the cursor it
// printed. Each sees every message once and in order.
func TestFollowersLoseNothing(t *testing.T) {
	t.Parallel()
	const senders = 8
	each := 12
	if testing.Short() {
		each = 4
	}
	r := newRig(t)
	for _, agent := range []string{"f:1", "f:2", "f:3"} {
		if _, err := r.run(agent, "join"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range senders {
		if _, err := r.run(fmt.Sprintf("s:%d", i), "join"); err != nil {
			t.Fatal(err)
		}
	}
	total := senders * each
	var followers, sending sync.WaitGroup
	got := make([][]int64, 3)
	for i := range 2 {
		followers.Add(1)
		go func() {
			defer followers.Done()
			got[i], _ = r.follow(fmt.Sprintf("f:%d", i+1), 0, total)
		}()
	}
	followers.Add(1)
	go func() {
		defer followers.Done()
		const piece = 7 // lines until it is stopped
		cursor := int64(0)
		for len(got[2]) < total {
			seqs, next := r.follow("f:3", cursor, min(piece, total-len(got[2])))
			if seqs == nil {
				return
			}
			// What came after the line that stopped it counts too: it was printed.
			got[2] = append(got[2], seqs...)
			cursor = next
		}
	}()
	for i := range senders {
		sending.Add(1)
		go func() {
			defer sending.Done()
			for n := range each {
				if _, err := r.run(fmt.Sprintf("s:%d", i), "msg", "send", "room", fmt.Sprintf("%d of %d", n, i)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	sending.Wait()
	followers.Wait()
	var want []int64
	for _, e := range r.events() {
		if e.Type == "message_sent" {
			want = append(want, e.Seq)
		}
	}
	for i, seqs := range got {
		if fmt.Sprint(seqs) != fmt.Sprint(want) {
			t.Errorf("follower %d saw %v, want %v", i+1, seqs, want)
		}
	}
}

// follow runs a follower until it has printed so many messages, stops it with
// SIGTERM, and returns the numbers of all it printed and its cursor.
func (r *rig) follow(agent string, after int64, count int) (seqs []int64, cursor int64) {
	cmd := r.command(agent, "msg", "recv", "--follow", "--after", strconv.FormatInt(after, 10))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Error(err)
		return nil, 0
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e struct {
			Seq int64 `json:"event_seq"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.t.Errorf("%s: %q: %v", agent, lines.Text(), err)
		}
		if seqs = append(seqs, e.Seq); len(seqs) == count {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				r.t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		r.t.Errorf("%s: %v, %s", agent, err, &stderr)
	}
	if _, err := fmt.Sscanf(stderr.String(), "cursor_event_seq=%d ended=signal\n", &cursor); err != nil {
		r.t.Errorf("%s said %q", agent, &stderr)
	}
	return seqs, cursor
}

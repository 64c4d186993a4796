package locks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/lockfile/queue"
)

// Variable is the environment variable that names the locks which a process runs under,
// separated by blanks, see [Ref].
const Variable = "TT_LOCKS"

// A Ref names one acquisition of a lock. As text it is "build@payments-5009ec41#17:9f3c":
// name, scope, number and nonce.
type Ref struct {
	ID
	Number int64
	Nonce  string
}

func (r Ref) String() string { return fmt.Sprintf("%s@%s#%d:%s", r.Name, r.Scope, r.Number, r.Nonce) }

// RefTo returns the ref of a ticket.
func RefTo(id ID, t *queue.Ticket) Ref { return Ref{id, t.Number, t.Nonce} }

// parseRef reads a ref. The environment may have anything.
func parseRef(text string) (r Ref, ok bool) {
	name, rest, ok1 := strings.Cut(text, "@")
	scope, rest, ok2 := strings.Cut(rest, "#")
	number, nonce, ok3 := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	ok = ok1 && ok2 && ok3 && err == nil && n > 0 && nonce != "" && ValidName(name) && ValidName(scope)
	return Ref{ID{name, scope}, n, nonce}, ok
}

// A Holding is a lock that the process runs under.
type Holding struct {
	Ref
	Mode queue.Mode
}

// Inside returns the holdings that the value of [Variable] names. One that has ended
// meanwhile is left out: a daemon keeps its environment for longer.
func (l *Locks) Inside(variable string) []Holding {
	var holdings []Holding
	for _, text := range strings.Fields(variable) {
		ref, ok := parseRef(text)
		if !ok {
			continue
		}
		if e, found := l.queue(ref.ID).Find(ref.Number, ref.Nonce); found && e.State == queue.Held {
			holdings = append(holdings, Holding{ref, e.Mode})
		}
	}
	return holdings
}

// Circle returns the lock that closes a circle if a process waits: one that it runs
// under, or has itself, and that its blockers cannot do without. me is its ticket in
// the queue of id, others are the tickets of others.
func (l *Locks) Circle(id ID, me *queue.Ticket, others []*queue.Entry) (ID, bool) {
	blockers := queue.Blockers(me, others)
	for _, b := range blockers {
		if b.PID == os.Getpid() && b.Condition == queue.Alive {
			return id, true
		}
	}
	if len(me.Inside) == 0 {
		return ID{}, false
	}
	var all []Lock // that can be read
	scopes, _ := l.Scopes()
	for _, scope := range scopes {
		in, _ := l.In(scope)
		all = append(all, in...)
	}
	type node struct { // a ticket that has to end first
		id ID
		*queue.Entry
	}
	var todo []node
	add := func(id ID, entries ...*queue.Entry) {
		for _, e := range entries {
			todo = append(todo, node{id, e})
		}
	}
	add(id, blockers...)
	for seen := map[string]bool{}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ref := RefTo(n.id, &n.Ticket).String()
		if slices.Contains(me.Inside, ref) {
			return n.id, true
		}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		// Before n can end, those end that block it if it waits, and those that run under its
		// lock and wait for another.
		for _, lock := range all {
			if n.State == queue.Waiting && lock.ID == n.id {
				add(n.id, queue.Blockers(&n.Ticket, lock.Entries)...)
			}
			for _, e := range lock.Entries {
				if e.State == queue.Waiting && slices.Contains(e.Inside, ref) {
					add(lock.ID, e)
				}
			}
		}
	}
	return ID{}, false
}

package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A crowd is a lock and the tickets of processes that draw, stop, continue, look, and
// end at any time.
type crowd struct {
	next    int64
	tickets []*Entry
}

func (c *crowd) others(number int64) []*Entry {
	return slices.DeleteFunc(slices.Clone(c.tickets), func(e *Entry) bool { return e.Number == number })
}

// pick returns one of the tickets for which ok is true, or nil.
func (c *crowd) pick(t *rapid.T, ok func(*Entry) bool) *Entry {
	var found []int
	for i, e := range c.tickets {
		if ok(e) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return c.tickets[rapid.SampledFrom(found).Draw(t, "ticket")]
}

// look is what a process does that is not stopped and waits.
func (c *crowd) look(t *rapid.T, e *Entry) {
	if blockers := Blockers(&e.Ticket, c.others(e.Number)); len(blockers) > 0 {
		first := nearest(&e.Ticket, blockers)
		if !slices.ContainsFunc(blockers, func(b *Entry) bool { return b.Number == first.Number }) {
			t.Fatalf("%d waits for %d, which does not block it", e.Number, first.Number)
		}
		return
	}
	for _, other := range c.others(e.Number) {
		if other.State == Waiting && other.Number < e.Number && other.Condition != Stopped && (other.Mode == Exclusive || e.Mode == Exclusive) {
			t.Fatalf("%d goes before %d", e.Number, other.Number)
		}
	}
	e.State = Held
}

func (c *crowd) check(t *rapid.T) {
	exclusive, shared, free := 0, 0, 0
	for _, e := range c.tickets {
		switch {
		case e.State == Held && e.Mode == Exclusive:
			exclusive++
		case e.State == Held:
			shared++
		case e.Condition != Stopped && len(Blockers(&e.Ticket, c.others(e.Number))) == 0:
			free++
		}
	}
	if exclusive > 1 || exclusive == 1 && shared > 0 {
		t.Fatalf("%d exclusive holders and %d shared ones", exclusive, shared)
	}
	waits := slices.ContainsFunc(c.tickets, func(e *Entry) bool { return e.State == Waiting && e.Condition != Stopped })
	if exclusive+shared == 0 && waits && free == 0 {
		t.Fatal("nobody has the lock, and nobody may take it")
	}
}

func TestGrantOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &crowd{}
		waiting := func(e *Entry) bool { return e.State == Waiting && e.Condition != Stopped }
		t.Repeat(map[string]func(*rapid.T){
			"": c.check,
			"draw": func(t *rapid.T) {
				c.next++
				mode := rapid.SampledFrom([]Mode{Exclusive, Shared}).Draw(t, "mode")
				c.tickets = append(c.tickets, &Entry{Ticket: Ticket{Number: c.next, Mode: mode, State: Waiting}, Condition: Alive})
			},
			"look": func(t *rapid.T) {
				if e := c.pick(t, waiting); e != nil {
					c.look(t, e)
				}
			},
			"stop": func(t *rapid.T) {
				if e := c.pick(t, func(e *Entry) bool { return e.Condition != Stopped }); e != nil {
					e.Condition = Stopped
				}
			},
			"continue": func(t *rapid.T) {
				if e := c.pick(t, func(e *Entry) bool { return e.Condition == Stopped }); e != nil {
					e.Condition = Alive
				}
			},
			"hide": func(t *rapid.T) { // in another pid namespace it cannot be told
				if e := c.pick(t, waiting); e != nil {
					e.Condition = Unknown
				}
			},
			"end": func(t *rapid.T) {
				if e := c.pick(t, func(*Entry) bool { return true }); e != nil {
					c.tickets = c.others(e.Number)
				}
			},
		})
	})
}

func TestBlockers(t *testing.T) {
	t.Parallel()
	entry := func(number int64, mode Mode, state State, condition Condition) *Entry {
		return &Entry{Ticket: Ticket{Number: number, Mode: mode, State: state}, Condition: condition}
	}
	for name, test := range map[string]struct {
		mode    Mode
		others  []*Entry
		blocked []int64
	}{
		"alone":                             {Exclusive, nil, nil},
		"one has it":                        {Exclusive, []*Entry{entry(3, Exclusive, Held, Alive)}, []int64{3}},
		"one has it and is stopped":         {Exclusive, []*Entry{entry(3, Exclusive, Held, Stopped)}, []int64{3}},
		"one was before":                    {Exclusive, []*Entry{entry(3, Exclusive, Waiting, Alive)}, []int64{3}},
		"one was before, elsewhere":         {Exclusive, []*Entry{entry(3, Exclusive, Waiting, Unknown)}, []int64{3}},
		"a stopped one was before":          {Exclusive, []*Entry{entry(3, Exclusive, Waiting, Stopped)}, nil},
		"one is behind":                     {Exclusive, []*Entry{entry(7, Exclusive, Waiting, Alive)}, nil},
		"one behind has it":                 {Exclusive, []*Entry{entry(7, Exclusive, Held, Alive)}, []int64{7}},
		"both shared":                       {Shared, []*Entry{entry(3, Shared, Held, Alive)}, nil},
		"shared behind a waiting exclusive": {Shared, []*Entry{entry(2, Shared, Held, Alive), entry(3, Exclusive, Waiting, Alive)}, []int64{3}},
		"exclusive behind shared ones":      {Exclusive, []*Entry{entry(2, Shared, Held, Alive), entry(3, Shared, Held, Alive)}, []int64{2, 3}},
		"a ticket that cannot be read":      {Shared, []*Entry{entry(3, Exclusive, Held, Unknown)}, []int64{3}},
	} {
		var got []int64
		for _, e := range Blockers(&Ticket{Number: 5, Mode: test.mode}, test.others) {
			got = append(got, e.Number)
		}
		if !slices.Equal(got, test.blocked) {
			t.Errorf("%s: blocked by %v, want %v", name, got, test.blocked)
		}
	}
}

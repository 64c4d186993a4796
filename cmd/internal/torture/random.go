//go:build linux

package main

import (
	"time"
)

// randomKills kills and stops at random moments while many talk, wait and take
// turns in a room, and readers never see it go back.
func randomKills(g *rig, r *report) {
	rounds, kills := g.pick(2, 1000), g.pick(1<<30, 50_000)
	for range rounds {
		g.randomRound(r, time.Duration(g.pick(9, 30))*time.Second)
		if r.kills >= kills || r.bad > 0 {
			break
		}
	}
	r.tellLate()
}

// randomRound works in one new room for a time.
func (g *rig) randomRound(r *report, length time.Duration) {
	data := g.newDir()
	defer g.remove(data)
	if err := g.members(g.tt, data); err != nil {
		r.wrong("%v", err)
		return
	}
	if err := g.withTopic(data); err != nil {
		r.wrong("%v", err)
		return
	}
	l := g.newLoad(g.tt, data, true)
	l.talkers(4)
	l.asker()
	l.waiters()
	l.lanes.Go(func() { l.look(r) })
	f := l.follow()
	random := l.random()
	l.lanes.Go(func() { // reading must work, whatever is killed
		for o, ok := (outcome{}), true; ok; {
			l.done(o)
			o, ok = l.do(random, 4*time.Millisecond, "msg", "recv", "--agent", agents[random.IntN(3)])
		}
	})
	time.Sleep(length)
	l.finish()
	f.end(r)
	r.add(1, l.kills+f.kills, l.acks.count())
	if l.failed != "" {
		r.wrong("%s", l.failed)
	}
	if err := g.guardiansEnd(data); err != nil {
		r.wrong("%v", err)
	}
	r.judgeAll(g, data, l.acks)
	if err := l.acks.inTopic(data); err != nil {
		r.wrong("the agent bus: %v", err)
	}
	events, err := g.events(data)
	if err != nil || len(l.acks.grants) < 10 {
		r.wrong("%d turns were had, %v", len(l.acks.grants), err)
	}
	r.wereTold(l.acks.lateness(events)...)
}

// look reads the room all the time, without a lock, and must never see it go
// back.
func (l *load) look(r *report) {
	room, err := l.room(l.data)
	if err != nil {
		r.wrong("%v", err)
		return
	}
	for seen := int64(0); ; time.Sleep(2 * time.Millisecond) {
		select {
		case <-l.over:
			return
		default:
		}
		snap, err := room.View()
		if err != nil {
			r.wrong("a reader fails: %v", err)
			return
		}
		if snap.Position.Seq < seen {
			r.wrong("a reader saw event %d and then %d", seen, snap.Position.Seq)
		}
		seen = snap.Position.Seq
	}
}

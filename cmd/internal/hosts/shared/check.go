package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/talking-stick/tt/cmd/internal/hosts"
	"github.com/talking-stick/tt/cmd/internal/roomtypes"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/mirror"
)

// Check implements [hosts.Sharing].
func (s *sharing) Check(ctx context.Context, store *fsroom.Store, rooms []string, repair, open bool) (h hosts.Health) {
	e := store.Options().Engine
	h.Name = s.service.Name
	info, err := e.Info(ctx)
	if err != nil {
		h.Problems = []doctor.Problem{problem(store.Dir(), mirror.ExplainEngine(err, ""))}
		return h
	}
	h.ID, h.Durable, h.Reached = info.ID, info.Durable, true
	local, err := fsroom.Open(store.Dir(), fsroom.Options{LeaveModes: true})
	if err != nil {
		return h // it could be opened before
	}
	x := checker{e: e, store: store, mirrors: local, repair: repair}
	if repair {
		e.Repair()
	}
	checkRooms(ctx, &x, roomtypes.Stick(), rooms)
	if rooms == nil {
		checkRooms(ctx, &x, roomtypes.Topics(), nil)
	}
	h.Problems = x.problems
	if lacks, differs := x.remains(); repair && !lacks && !differs {
		_ = e.Reopen(ctx, store.Options().Host) // it has all of this host
	}
	if now, err := e.Info(ctx); err == nil {
		info = now
	}
	if info.Restored {
		h.Problems = append(h.Problems, x.reopen(ctx, open))
	} else if err := e.Probe(ctx); err != nil {
		h.Problems = append(h.Problems, problem(store.Dir(), mirror.ExplainEngine(err, "")))
	}
	return h
}

// remains reports whether the engine still lacks something that this host has, and whether it has something else in the place
// of what this host has.
func (x *checker) remains() (lacks, differs bool) {
	for _, p := range x.problems {
		isOther := p.Code == string(code.CorruptRoom)
		lacks = lacks || !isOther && !p.Repaired && !p.Harmless
		differs = differs || isOther && !p.Harmless
	}
	return lacks, differs
}

// reopen tells that the store of the engine was copied back, or lacks what other hosts have. With open, the engine takes
// changes again, unless something of this host can still be given back to it: what has something else in its place at the
// engine cannot.
func (x *checker) reopen(ctx context.Context, open bool) doctor.Problem {
	p := doctor.Problem{
		File: x.store.Dir(), Code: string(code.EngineRestored),
		Problem: "the store of the engine was copied back or begun anew, and takes no change but those of a repair",
		Repair:  "give back what this host has; when every host has done that, once: tt doctor --repair --open",
	}
	lacks, differs := x.remains()
	switch {
	case !x.repair || !open:
		return p
	case lacks:
		p.Repair = "what is said above keeps it closed: mend that first"
		return p
	}
	if err := x.e.Reopen(ctx, ""); err != nil {
		p.Problem += "; it cannot be opened: " + err.Error()
		return p
	}
	if p.Repaired = true; differs {
		p.Problem += "; it takes changes again, and what differs on this host is given up"
	}
	return p
}

// A checker compares the mirrors of this host with what the engine has.
type checker struct {
	e        engine.Engine
	store    *fsroom.Store
	mirrors  *fsroom.Store // the same, without the engine
	repair   bool
	problems []doctor.Problem
}

func checkRooms[S any](ctx context.Context, x *checker, rules *fsroom.Rules[S], names []string) {
	if names == nil {
		names, _ = fsroom.Folders(x.mirrors, rules)
	}
	for _, name := range names {
		checkRoom(ctx, x, fsroom.At(x.mirrors, rules, name), fsroom.At(x.store, rules, name))
	}
}

// checkRoom compares one mirror, which is also given with its engine. What is wrong with its
// files is found by package doctor.
func checkRoom[S any](ctx context.Context, x *checker, here, room *fsroom.Room[S]) {
	lines, err := history.Lines(ctx, here)
	if code.Of(err) == code.CorruptRoom && x.repair {
		p := problem(here.JournalPath(), err)
		p.RoomID, p.Code, p.Repaired = here.Name(), "", mirror.Refetch(ctx, room) == nil
		if p.Repaired { // else package doctor finds it
			x.problems = append(x.problems, p)
		}
		return
	}
	if err != nil || len(lines) == 0 {
		return
	}
	h, err := history.Check(here.Rules(), here.Name(), lines)
	if err != nil {
		return
	}
	at := here.Rules().Folder + "." + here.Name()
	has, err := mirror.Compare(ctx, x.e, at, h)
	if n := len(has.Skipped); n > 0 {
		x.problems = append(x.problems, doctor.Problem{
			RoomID: here.Name(), File: here.JournalPath(), Code: string(code.CorruptRoom), Harmless: true,
			Problem: fmt.Sprintf("at the engine the room has entries that are no change of it: %d, the last at revision %d; every host skips them", n, has.Skipped[n-1]),
		})
	}
	switch {
	case err != nil:
		p := problem(here.JournalPath(), err)
		if p.RoomID = here.Name(); p.Code == string(code.CorruptRoom) {
			p.Problem += "; if it is the engine's, move " + here.Dir() + " away, and the next command fetches the room again"
		}
		x.problems = append(x.problems, p)
		return
	case has.Events == h.Last():
		if x.repair {
			_, _ = room.View() // another host may have published it at other revisions
		}
		return
	}
	p := doctor.Problem{
		RoomID: here.Name(), File: here.JournalPath(), Code: string(code.EngineRewound),
		Problem: fmt.Sprintf("the engine has %d of the %d events", has.Events, h.Last()),
		Repair:  "publish the others",
	}
	if x.repair {
		if _, err = mirror.Publish(ctx, x.e, at, h); err == nil {
			_, err = room.View()
		}
		if p.Repaired = err == nil; !p.Repaired {
			p.Repair = ""
			q := problem(here.JournalPath(), err)
			q.RoomID = here.Name()
			x.problems = append(x.problems, q)
		}
	}
	x.problems = append(x.problems, p)
}

// problem is an error as a problem.
func problem(file string, err error) doctor.Problem {
	p := doctor.Problem{File: file, Problem: err.Error()}
	var coded *code.Error
	if errors.As(err, &coded) {
		p.Code, p.Problem = string(coded.Code), coded.Message
		if coded.Hint != "" && coded.Code == code.CorruptRoom {
			p.Problem += "; " + coded.Hint
		}
	}
	return p
}

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
)

// Check implements [hosts.Sharing].
func (s *sharing) Check(ctx context.Context, store *fsroom.Store, rooms []string, repair bool) (h hosts.Health) {
	e := store.Options().Engine
	info, err := e.Info(ctx)
	if err != nil {
		h.Problems = []doctor.Problem{problem(store.Dir(), fsroom.ExplainEngine(err, ""))}
		return h
	}
	h.ID, h.Durable, h.Reached = info.ID, info.Durable, true
	local, err := fsroom.Open(store.Dir(), fsroom.Options{LeaveModes: true})
	if err != nil {
		return h // it could be opened before
	}
	x := checker{e: e, store: store, mirrors: local, repair: repair}
	checkRooms(ctx, &x, roomtypes.Stick(), rooms)
	if rooms == nil {
		checkRooms(ctx, &x, roomtypes.Topics(), nil)
	}
	h.Problems = x.problems
	return h
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
func checkRoom[S any](ctx context.Context, x *checker, mirror, room *fsroom.Room[S]) {
	lines, err := mirror.Lines(ctx)
	if err != nil || len(lines) == 0 {
		return
	}
	history, err := fsroom.CheckHistory(mirror.Rules(), mirror.Name(), lines)
	if err != nil {
		return
	}
	at := mirror.Rules().Folder + "." + mirror.Name()
	has, err := fsroom.Compare(ctx, x.e, at, history)
	switch {
	case err != nil:
		p := problem(mirror.JournalPath(), err)
		p.RoomID = mirror.Name()
		x.problems = append(x.problems, p)
		return
	case has.Events == history.Last():
		if x.repair {
			_, _ = room.View() // another host may have published it at other revisions
		}
		return
	}
	p := doctor.Problem{
		RoomID: mirror.Name(), File: mirror.JournalPath(), Code: string(code.EngineRewound),
		Problem: fmt.Sprintf("the engine has %d of the %d events", has.Events, history.Last()),
		Repair:  "publish the others",
	}
	if x.repair {
		if _, err = fsroom.Publish(ctx, x.e, at, history); err == nil {
			_, err = room.View()
		}
		if p.Repaired = err == nil; !p.Repaired {
			p.Repair = ""
			q := problem(mirror.JournalPath(), err)
			q.RoomID = mirror.Name()
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

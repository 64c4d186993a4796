package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// parts are what such a process can do. It ends when its input does.
var parts = map[string]func(r *room, args []string) error{
	"hold":  holdLock,
	"write": writeWords,
	"churn": leadLives,
	"use":   useRoom,
	"blind": waitWithoutWatchers,
	"queue": queueForLock,
}

// holdLock has the room's lock until its input ends.
func holdLock(r *room, _ []string) error {
	unlock, err := lockfile.Lock(context.Background(), r.Dir()+"/lock")
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return unlock()
}

// writeWords says so many words and acknowledges each.
func writeWords(r *room, args []string) error {
	who, count := args[0], args[1]
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range n {
		if err := acknowledged(r, join(who), who+" joins"); err != nil {
			return err
		}
		word := fmt.Sprintf("%s says %d", who, i)
		if err := acknowledged(r, say(who, word), word); err != nil {
			return err
		}
	}
	return nil
}

// leadLives joins, says a word, and leaves, so that the room ends each time.
func leadLives(r *room, args []string) error {
	who, _, _ := strings.Cut(args[0], "#")
	for i := 0; ; i++ {
		word := fmt.Sprintf("%s says %d", args[0], i)
		for _, step := range []struct {
			decide decision
			ack    string
		}{{join(who), ""}, {say(who, word), word}, {leave(who), ""}} {
			if err := acknowledged(r, step.decide, step.ack); err != nil {
				return err
			}
		}
	}
}

// acknowledged makes a change and says so once it is made, in one write that a
// kill cannot part.
func acknowledged(r *room, decide decision, word string) error {
	_, events, err := r.Update(context.Background(), decide)
	if err != nil || word == "" || len(events) == 0 {
		return err
	}
	_, err = fmt.Println(word)
	return err
}

// useRoom tells what a user can do with the room.
func useRoom(r *room, _ []string) error {
	snap, err := r.View()
	if err != nil {
		return err
	}
	fmt.Println("exists", r.Exists())
	fmt.Println("view", snap.Position.Seq)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = r.Await(ctx, func(*snapshot) (bool, fsroom.Sleep, error) { return true, fsroom.Sleep{}, nil })
	fmt.Println("await", code.Of(err))
	_, err = r.Events(context.Background(), snap.Position.Seq-1, func(e *event.Event) error { fmt.Println("event", e.Seq); return nil })
	fmt.Println("events", code.Of(err))
	_, _, err = r.Update(context.Background(), say("b", "hello"))
	fmt.Println("update", code.Of(err))
	store, err := fsroom.Open(filepath.Dir(filepath.Dir(r.Dir())), fsroom.Options{})
	if err != nil {
		return err
	}
	for _, p := range doctor.CheckDir(store, false) {
		if strings.Contains(p.Problem, "written") {
			fmt.Println("dir", p.Problem)
		}
	}
	return nil
}

// waitWithoutWatchers takes all the watchers its user can have, and then waits.
func waitWithoutWatchers(r *room, _ []string) error {
	var watchers []*fsnotify.Watcher
	w, err := fsnotify.NewWatcher()
	for ; err == nil; w, err = fsnotify.NewWatcher() {
		watchers = append(watchers, w)
	}
	fmt.Println("none is left:", errors.Is(err, syscall.EMFILE))
	defer runtime.KeepAlive(watchers)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	looks := 0
	err = r.Await(ctx, func(s *snapshot) (bool, fsroom.Sleep, error) {
		if looks++; looks == 2 {
			_, _, err := r.Update(ctx, say("b", "hello"))
			return false, fsroom.Sleep{}, err
		}
		return s.State.Last == "hello", fsroom.Sleep{}, nil
	})
	fmt.Println("await", err)
	return nil
}

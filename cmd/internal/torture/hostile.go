//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hostileFiles plants things in the place of our files. Nothing may be written
// through them, nothing may hang, and what can be mended is.
func hostileFiles(g *rig, r *report) {
	things := map[string]func(path, outside string) error{
		"symbolic link": func(path, outside string) error { return os.Symlink(outside, path) },
		"loop":          func(path, _ string) error { return os.Symlink(path, path) },
		"named pipe":    func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"directory":     func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"hard link":     func(path, outside string) error { return os.Link(outside, path) },
	}
	directories := []string{"tmp", "agents", "agents/a-1-*", "agents/b-2-*"}
	for _, file := range append([]string{"state.json", "lock", "journal.jsonl"}, directories...) {
		for name, plant := range things {
			if slices.Contains(directories, file) && (name == "directory" || name == "hard link") {
				continue
			}
			r.add(1, 0, 0)
			if err := g.hostile(file, plant); err != nil {
				r.wrong("a %s in place of %s: %v", name, file, err)
			}
		}
	}
}

func (g *rig) hostile(file string, plant func(path, outside string) error) error {
	data := g.newDir()
	defer g.remove(data)
	if err := g.members(g.tt, data); err != nil {
		return err
	}
	room, err := g.room(data)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(room.Dir(), file))
	if err != nil || len(paths) != 1 {
		return fmt.Errorf("there are %d of %s: %v", len(paths), file, err)
	}
	path, outside := paths[0], g.newDir()
	if err := os.Rename(path, outside); err != nil {
		return err
	}
	if err := plant(path, outside); err != nil {
		return err
	}
	before := fingerprint(outside)
	for _, line := range []string{"msg send room x --agent a:1", "state", "wait --timeout 10ms --agent b:2", "log", "doctor", "doctor --repair"} {
		if err := g.inTime(data, strings.Fields(line)...); err != nil {
			return err
		}
		if after := fingerprint(outside); after != before {
			return fmt.Errorf("tt %s changed what is outside: %s, was %s", line, after, before)
		}
	}
	if info, err := os.Lstat(path); file == "journal.jsonl" && (err != nil || !info.Mode().IsRegular()) {
		return nil // to move this away would end the room's life, and is left to people
	}
	return g.fresh(data)
}

// inTime runs a command that must come to an end by itself and may be refused.
func (g *rig) inTime(data string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.tt, args...)
	cmd.Env, cmd.Dir = g.env(data), g.workspace
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("tt %s hangs", strings.Join(args, " "))
	}
	if code := ended(err, "", "").exit; code != 0 && code != 1 || strings.Contains(string(out), "goroutine ") {
		return fmt.Errorf("tt %s: %s", strings.Join(args, " "), out)
	}
	return nil
}

// fingerprint tells all that is at a path: names, times of change, content.
func fingerprint(path string) string {
	var all strings.Builder
	err := filepath.Walk(path, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			fmt.Fprintln(&all, string(b), err)
		}
		return nil
	})
	return fmt.Sprint(all.String(), err)
}

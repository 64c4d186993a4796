//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// skewedVersions lets the build of the last tag work beside this one in the same
// room.
func skewedVersions(g *rig, r *report) {
	old, what, err := g.earlier()
	if err != nil {
		r.skip("there is no older build: " + err.Error())
		return
	}
	r.tell("beside a build of %s", what)
	l := g.loaded(r)
	if l == nil {
		return
	}
	data := l.data
	defer g.remove(data)
	l.other = old
	l.talkers(3)
	l.waiters()
	time.Sleep(time.Duration(g.pick(3, 30)) * time.Second)
	l.finish()
	r.add(1, 0, l.acks.count())
	if l.failed != "" {
		r.wrong("%s", l.failed)
	}
	r.judgeAll(g, data, l.acks)
	events, err := g.events(data)
	if err != nil {
		r.wrong("%v", err)
	}
	// An earlier build need not know how this one is woken.
	for _, late := range l.acks.lateness(events) {
		if late > safetyPoll {
			r.wrong("one was told %v late", late)
		}
	}
}

// earlier builds tt as it was at the last tag.
func (g *rig) earlier() (tt, what string, err error) {
	out, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "HEAD~1").Output()
	if err != nil {
		return "", "", fmt.Errorf("git knows no tag before this commit")
	}
	what = strings.TrimSpace(string(out))
	dir := g.newDir()
	defer os.RemoveAll(dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", "", err
	}
	archive := dir + ".tar"
	defer os.Remove(archive)
	if err := command("git", "archive", "-o", archive, what); err != nil {
		return "", "", err
	}
	if err := command("tar", "-xf", archive, "-C", dir); err != nil {
		return "", "", err
	}
	tt = filepath.Join(g.base, "tt-earlier")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", tt, "./cmd/tt")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("%v: %s", err, out)
	}
	return tt, what, nil
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fullDisks fills disks of many sizes, and makes one read-only.
func fullDisks(g *rig, r *report) {
	if why := canMount(); why != "" {
		r.skip(why)
		return
	}
	for kib := 24; kib <= g.pick(120, 240); kib += g.pick(8, 4) {
		r.disk(g, fmt.Sprintf("size=%dk", kib), "size=4m", g.fill)
	}
	for inodes := 4; inodes <= 24; inodes += g.pick(2, 1) {
		r.disk(g, fmt.Sprintf("size=4m,nr_inodes=%d", inodes), "size=4m,nr_inodes=1000", g.fill)
	}
	r.disk(g, "size=4m", "rw", g.readOnly)
}

// disk runs a test on a small disk and, with other options, asks for a room in order.
func (r *report) disk(g *rig, options, later string, test func(dir, data string) (acked []string, err error)) {
	dir := g.newDir()
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		err = command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir)
	}
	if err != nil {
		r.wrong("%v", err)
		return
	}
	data := filepath.Join(dir, "data")
	acked, err := test(dir, data)
	if err == nil {
		err = command("mount", "-o", "remount,"+later, dir)
	}
	if err == nil {
		if r.judge(g, data, acked) {
			r.add(1, 0, len(acked))
		}
	}
	g.reap(data)
	if e := (disk{dir: dir}).unmount(); err == nil {
		err = e
	}
	if err != nil {
		r.wrong("%s: %v", options, err)
	}
}

// fill talks until nothing fits any more. Every refusal must say why, and reading
// goes on.
func (g *rig) fill(_, data string) (acked []string, err error) {
	refused := 0
	if res := g.run(data, "join", "--agent", "a:1"); res.exit != 0 {
		return nil, full(res)
	}
	for n := 0; n < 120 && refused < 3; n++ {
		body := fmt.Sprintf("%d %s", n, strings.Repeat("x", 700))
		res := g.run(data, "msg", "send", "room", body, "--agent", "a:1")
		if res.exit == 0 {
			acked = append(acked, body)
			continue
		}
		refused++
		if err := full(res); err != nil {
			return acked, err
		}
	}
	if res := g.run(data, "state", "--agent", "a:1"); res.exit != 0 {
		return acked, fmt.Errorf("a full disk cannot be read: %v", res)
	}
	return acked, nil
}

func full(r result) error {
	if r.exit == 1 && strings.Contains(r.stderr, `"disk_full"`) {
		return nil
	}
	return fmt.Errorf("a full disk is told as %v", r)
}

// readOnly: reading works and changing is refused, with a code.
func (g *rig) readOnly(dir, data string) ([]string, error) {
	if err := g.members(g.tt, data); err != nil {
		return nil, err
	}
	if err := command("mount", "-o", "remount,ro", dir); err != nil {
		return nil, err
	}
	if res := g.run(data, "state", "--agent", "a:1"); res.exit != 0 {
		return nil, fmt.Errorf("a read-only disk cannot be read: %v", res)
	}
	if res := g.run(data, "msg", "send", "room", "x", "--agent", "a:1"); res.exit != 1 || !strings.Contains(res.stderr, `"data_dir_unusable"`) {
		return nil, fmt.Errorf("a read-only disk is told as %v", res)
	}
	if res := g.run(data, "doctor"); res.exit != 1 || !strings.Contains(res.stdout, "cannot be written to") {
		return nil, fmt.Errorf("doctor of a read-only disk: %v", res)
	}
	return nil, nil
}

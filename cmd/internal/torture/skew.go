//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// skewedVersions has files of a later version read by this one, and an earlier
// build work beside this one in the same room.
func skewedVersions(g *rig, r *report) {
	for _, f := range futures() {
		r.add(1, 0, 0)
		if err := g.future(f); err != nil {
			r.wrong("%s: %v", f.name, err)
		}
	}
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

// earlier builds tt as it was at the last release, or else ten commits ago.
func (g *rig) earlier() (tt, what string, err error) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if what, err = git("describe", "--tags", "--abbrev=0", "HEAD~1"); err != nil {
		what = "HEAD~10"
	}
	if _, err = git("rev-parse", "--verify", "--quiet", what+"^{commit}"); err != nil {
		return "", "", fmt.Errorf("git has no %s", what)
	}
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

// A future is what a later version may have written.
type future struct {
	name    string
	write   func(dir string) error // given the room's directory
	refused bool                   // this version says so and leaves it as it is
}

func futures() []future {
	return []future{
		{"a later layout", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "../../format"), []byte("2\n"), 0o600)
		}, true},
		{"a later format of the journal", inJournal(func(lines [][]byte) [][]byte {
			lines[0] = bytes.Replace(lines[0], []byte(`"payload":{"format":1`), []byte(`"payload":{"format":2`), 1)
			return lines
		}), true},
		{"a later format of state.json", inState(func(p map[string]json.RawMessage) { p["format"] = []byte("2") }), true},
		{"unknown fields in state.json", inState(func(p map[string]json.RawMessage) {
			p["later"] = []byte(`{"a":[1,2]}`)
			p["state"] = append([]byte(`{"later":[{"x":null}],`), p["state"][1:]...)
		}), false},
		{"an unknown type of event", inJournal(func(lines [][]byte) [][]byte {
			return append(lines, later(lines, `"event_type":"vote","from_agent_id":"a:1","payload":{"for":"b:2"}`))
		}), false},
		{"unknown fields in an event", inJournal(func(lines [][]byte) [][]byte {
			return append(lines, later(lines, `"event_type":"message_sent","from_agent_id":"a:1","mood":{"a":1},"payload":{"body":"hello","delivery_hint":"whisper","later":true}`))
		}), false},
		{"unknown fields in what is no event", func(dir string) error {
			files, err := filepath.Glob(filepath.Join(dir, "agents/*/*.json"))
			if err == nil && len(files) == 0 {
				err = fmt.Errorf("there are none")
			}
			for _, file := range files {
				b, e := os.ReadFile(file)
				if e == nil {
					e = os.WriteFile(file, bytes.Replace(b, []byte("{"), []byte(`{"later":{"x":[1]},`), 1), 0o600)
				}
				if e != nil {
					err = e
				}
			}
			return err
		}, false},
	}
}

// inJournal changes the lines of the journal.
func inJournal(change func([][]byte) [][]byte) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, "journal.jsonl")
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := change(bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")))
		after := append(bytes.Join(lines, nil), '\n')
		if bytes.Equal(after, append(b, '\n')) || bytes.Equal(after, b) {
			return fmt.Errorf("nothing was changed")
		}
		_ = os.Remove(filepath.Join(dir, "state.json"))
		return os.WriteFile(path, after, 0o600)
	}
}

// later is an event behind the lines, with the newline before it.
func later(lines [][]byte, fields string) []byte {
	var first struct {
		Room string `json:"room_id"`
	}
	_ = json.Unmarshal(lines[0], &first)
	return fmt.Appendf(nil, "\n"+`{"event_seq":%d,"event_id":"00000000-0000-4000-8000-000000000000","room_id":%q,"turn_id":1,%s,"created_at":"2030-01-01T00:00:00.000Z"}`, len(lines)+1, first.Room, fields)
}

// inState changes state.json and sets its sum right.
func inState(change func(map[string]json.RawMessage)) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, "state.json")
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var p map[string]json.RawMessage
		var covers struct {
			Offset int64
			Seq    int64 `json:"event_seq"`
			Turn   int64 `json:"turn_id"`
			MTime  int64 `json:"mtime_ns"`
		}
		if err := json.Unmarshal(b, &p); err != nil {
			return err
		}
		if err := json.Unmarshal(p["journal"], &covers); err != nil {
			return err
		}
		change(p)
		sum := fnv.New64a()
		fmt.Fprintf(sum, "%d %d %d %d %s", covers.Offset, covers.Seq, covers.Turn, covers.MTime, p["state"])
		p["fnv1a"] = fmt.Appendf(nil, `"%x"`, sum.Sum64())
		// The state has to keep its bytes, which its sum is of.
		after := fmt.Appendf(nil, `{"format":%s,"later":%s,"journal":%s,"fnv1a":%s,"state":%s}`+"\n", p["format"], orNull(p["later"]), p["journal"], p["fnv1a"], p["state"])
		return os.WriteFile(path, after, 0o600)
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// future lets this version work on what a later one has written.
func (g *rig) future(f future) error {
	data := g.newDir()
	defer g.remove(data)
	for _, line := range []string{"join --agent b:2", "try --agent a:1", "msg send b:2 hello --agent a:1", "msg recv --agent b:2"} {
		if err := g.ok(data, strings.Fields(line)...); err != nil {
			return err
		}
	}
	room, err := g.room(data)
	if err != nil {
		return err
	}
	if err := f.write(room.Dir()); err != nil {
		return err
	}
	journal, err := os.ReadFile(room.JournalPath())
	if err != nil {
		return err
	}
	before := files(data)
	for _, line := range []string{
		"state --agent b:2", "events --agent b:2", "msg recv --agent b:2", "msg send a:1 hello --agent b:2", "wait --timeout 10ms --agent a:1",
		"assign b:2 --agent a:1" + handoff, "wait --agent b:2", "release --agent b:2" + handoff, "leave --agent b:2", "doctor",
	} {
		res := g.run(data, strings.Fields(line)...)
		switch told := strings.Contains(res.stderr+res.stdout, "written by a newer "); {
		case !f.refused && res.exit != 0:
			return fmt.Errorf("tt %s: %v", line, res)
		case f.refused && (res.exit != 1 || !told):
			return fmt.Errorf("tt %s was not refused: %v", line, res)
		}
	}
	if f.refused {
		if after := files(data); after != before {
			return fmt.Errorf("what was refused was changed:\n%s\nwas\n%s", after, before)
		}
		return nil
	}
	now, err := os.ReadFile(room.JournalPath())
	if err != nil || !bytes.HasPrefix(now, journal) {
		return fmt.Errorf("the journal has lost bytes: %v", err)
	}
	return g.mended(data)
}

// files is all that is in a directory, but for what says when somebody was here.
func files(dir string) string {
	var all strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if name := filepath.Base(path); name != "seen" && name != "waiting" && name != "bell" && name != "next" && err == nil && !d.IsDir() {
			b, err := os.ReadFile(path)
			fmt.Fprintln(&all, path, string(b), err)
		}
		return nil
	})
	return all.String()
}

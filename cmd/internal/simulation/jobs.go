package simulation

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// startJob is the runner of a job up to where its command runs, which the command that asks for the job waits
// for. The rest of the runner is a process; its command writes into the tree.
func (w *world) startJob(p *proc, dir string, files []*os.File) (pid int, err error) {
	alive, err := syscall.Dup(int(files[1].Fd()))
	if err != nil {
		return 0, err
	}
	var j *jobs.Job
	q := w.spawn(p.name+".j", 1, func(q *proc) {
		defer syscall.Close(alive)
		if w.state.Owner == j.Agent && w.slept != w.state.Turn && w.back != w.state.Turn { // else it needs no turn, or nothing renews that
			q.writer = w.byAgent(j.Agent)
		}
		q.sleep(90 * time.Second)
		q.writer = nil
		at := event.NewTime(time.Now())
		patchJob(dir, func(j *jobs.Job) { j.EndedAt, j.Outcome, j.Exit = &at, "exited", new(int) })
		q.point()
		var o fsroom.Options
		q.options(&o)
		store, err := fsroom.Open(w.data, o)
		if err != nil {
			return
		}
		c := &member.Client{Store: store, Table: q, Clock: q.clock}
		room := &jobs.Room{Store: store, Name: filepath.Base(filepath.Dir(dir)), Table: q}
		ended, err := room.Load(j.ID)
		if err == nil && c.Room(room.Name, nil).TellJob(context.Background(), ended) == nil {
			ended.Told()
		}
	})
	q.detail = "job"
	at := event.NewTime(time.Now())
	j = patchJob(dir, func(j *jobs.Job) { j.StartedAt, j.Runner, j.Process = &at, &q.id, &q.id })
	_, err = files[0].WriteString("ok")
	w.logf("%s starts the job %s of %s", p.name, q.name, w.named(j.Agent))
	return q.id.PID, err
}

// patchJob changes what is recorded of a job, and returns it.
func patchJob(dir string, set func(*jobs.Job)) *jobs.Job {
	path, j := filepath.Join(dir, "job.json"), new(jobs.Job)
	b, _ := os.ReadFile(path)
	_ = json.Unmarshal(b, j)
	set(j)
	b, _ = json.Marshal(j)
	_ = lockfile.ReplaceUnsynced(path, b, dir)
	return j
}

// isRecorded reports whether the ledger has a file as it is now, with "" the whole tree.
func (w *world) isRecorded(file string) bool {
	l := ledger.New(filepath.Join(w.data, ledger.Folder, fsroom.RoomName(w.dir)), ledger.Options{Root: w.dir, Home: w.home})
	v, err := l.Look(context.Background())
	if err != nil {
		return false
	}
	defer v.Close()
	return slices.ContainsFunc(v.All, func(s *ledger.Snapshot) bool {
		change, err := v.ChangeOf(s, v.Now, file)
		return s.Tree == v.Now.Tree || s.Scan == v.Now.Tree || file != "" && err == nil && change == nil
	})
}

// touch changes a file of the tree, as a person does with an editor.
func (w *world) touch(name string) {
	w.tree[name] = strconv.Itoa(len(w.log))
	_ = os.WriteFile(filepath.Join(w.dir, name), []byte(w.tree[name]), 0o600)
	w.touched = w.steps
}

// Package jobs runs commands that outlive those who start them, and finds out how they
// end. A job belongs to a room, and is a directory:
//
//	<data dir>/jobs/<room>/17/job.json   what is known of it, see Job; replaced atomically
//	                         /alive      held by the runner as long as it lives
//	                         /lock       taken to change job.json
//	                         /out        what the command wrote
//	                         /stop       there if the job is to be stopped
//	                         /joined     who else is told its end, an agent a line
//	          /jobs/<room>/open/17       there until the end was told
//	          /jobs/<room>/verified/test the verdict that was the answer in place of a job, see Verified
//
// The runner is a process of its own, see [Runner]. Whoever starts a job holds its file
// alive from before the job can be seen, and the runner inherits that hold: at every moment
// the kernel knows whether somebody is there to say how the job ends. If nobody is, and the
// command does not run either, the job is lost; see [Room.Settle].
//
// To tell the end is not the work of this package. Its caller writes the event, which a room
// accepts once, and then calls [Job.Told].
package jobs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// Folder is the directory of the data directory that has the jobs.
const Folder = "jobs"

const (
	recordFile = "job.json"
	aliveFile  = "alive"
	lockFile   = "lock"
	outFile    = "out"
	stopFile   = "stop"
	joinedFile = "joined"
	openDir    = "open"

	maxRecord = 16 << 20 // bytes that are read of job.json
)

// A Room has the jobs of one room on this host.
type Room struct {
	Store *fsroom.Store // of this host
	Name  string
	Table identity.Table
}

// A Job is what job.json says of a job.
type Job struct {
	ID        int64             `json:"job_id"`
	Name      string            `json:"name"`
	Agent     string            `json:"agent_id"`
	Turn      int64             `json:"turn_id"` // of the room, when it was asked for
	Command   []string          `json:"command"`
	Program   string            `json:"program"` // the path of the command's program
	Dir       string            `json:"cwd"`
	Timeout   int64             `json:"timeout_ms,omitempty"`
	AskedAt   event.Time        `json:"asked_at"`
	Runner    *identity.Process `json:"runner,omitempty"`
	Process   *identity.Process `json:"process,omitempty"`
	StartedAt *event.Time       `json:"started_at,omitempty"`
	EndedAt   *event.Time       `json:"ended_at,omitempty"`
	Outcome   string            `json:"outcome,omitempty"` // "" until it has ended
	Exit      *int              `json:"exit,omitempty"`
	Signal    string            `json:"signal,omitempty"`
	Root      string            `json:"root,omitempty"` // of the tree
	Tree      string            `json:"tree,omitempty"` // when the command began
	TreeMoved bool              `json:"tree_moved,omitempty"`
	TreeState string            `json:"tree_state,omitempty"` // with Tree: what a verdict is about; "" if there can be none
	Recheck   bool              `json:"recheck,omitempty"`    // the tree had a verdict of this command already
	Held      *bool             `json:"held,omitempty"`       // and whether it held; nil if that is not known
	LogBytes  int64             `json:"log_bytes,omitempty"`  // when it had ended

	// Overridden are the environment variables that the runner has for itself, and Own those
	// of them that the command has.
	Overridden []string `json:"overridden,omitempty"`
	Own        []string `json:"own,omitempty"`

	room *Room
}

// Dir returns the directory of the room's jobs.
func (r *Room) Dir() string { return filepath.Join(r.Store.Dir(), Folder, r.Name) }

func (r *Room) open() string { return filepath.Join(r.Dir(), openDir) }

func (r *Room) verified() string { return filepath.Join(r.Dir(), "verified") }

func (r *Room) job(id int64) string { return filepath.Join(r.Dir(), strconv.FormatInt(id, 10)) }

func (j *Job) path(name string) string { return filepath.Join(j.room.job(j.ID), name) }

// marker is there until the end of the job was told.
func (j *Job) marker() string { return filepath.Join(j.room.open(), strconv.FormatInt(j.ID, 10)) }

// Log returns the path of what the command wrote.
func (j *Job) Log() string { return j.path(outFile) }

// numbers returns the names of a directory that are numbers of jobs, sorted.
func numbers(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []int64
	for _, e := range entries {
		if id, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && id > 0 && strconv.FormatInt(id, 10) == e.Name() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Belongs reports whether the folder of jobs may have a file or directory. The path is below
// the folder, and separated by slashes.
func Belongs(path string, mode fs.FileMode) bool {
	depth := 0
	if path != "." {
		depth = 1 + strings.Count(path, "/")
	}
	if mode.IsDir() {
		return depth < 3
	}
	return depth == 3 && mode.IsRegular()
}

// Load reads a job. The error is fs.ErrNotExist if there is none.
func (r *Room) Load(id int64) (*Job, error) {
	b, err := lockfile.ReadRegular(filepath.Join(r.job(id), recordFile), maxRecord)
	if err != nil {
		return nil, err
	}
	j := &Job{room: r}
	if err := json.Unmarshal(b, j); err != nil {
		return nil, err
	}
	if j.Outcome != "" && j.EndedAt == nil {
		return nil, errors.New("the record of the job is damaged: it does not say when the job ended")
	}
	j.ID, j.room = id, r
	return j, nil
}

// List returns the jobs that are known, the newest first. Those that cannot be read, or of which
// no more than a directory was made, are left out.
func (r *Room) List() ([]*Job, error) { return r.ListSince(time.Time{}) }

// ListSince returns those of List of which something was recorded after a time.
func (r *Room) ListSince(t time.Time) ([]*Job, error) {
	ids, err := numbers(r.Dir())
	if err != nil {
		return nil, r.Store.Explain(err, r.Dir())
	}
	var all []*Job
	for _, id := range slices.Backward(ids) {
		if info, err := os.Lstat(filepath.Join(r.job(id), recordFile)); err != nil || info.ModTime().Before(t) {
			continue
		}
		if j, err := r.Load(id); err == nil && j.began() {
			all = append(all, j)
		}
	}
	return all, nil
}

// began reports whether somebody was ever to be told of the job: a starter that is killed before
// leaves nothing to tell.
func (j *Job) began() bool {
	return j.StartedAt != nil || j.Outcome != "" || !j.isTold() || j.Attended()
}

// Find returns the job with a number, or the newest one with a name, nil if there is none.
func (r *Room) Find(ref string) (*Job, error) {
	id, err := strconv.ParseInt(ref, 10, 64)
	if err == nil {
		if j, err := r.Load(id); err == nil && j.began() {
			return j, nil
		}
	}
	all, err := r.List()
	for _, j := range all {
		if j.Name == ref || j.End().Title() == ref {
			return j, nil
		}
	}
	return nil, err
}

// A verified is an answer that was given in place of a job. Its file has the name that the job would have had.
type verified struct {
	JobID   int64           `json:"job_id"` // that has found it out
	Newest  int64           `json:"newest"` // the newest job of the name then, 0 if none was known
	Verdict json.RawMessage `json:"verdict"`
}

// AnswerVerified records that a verdict, which the job with the number has found out, was the answer in place of a new job.
func (r *Room) AnswerVerified(name string, id int64, verdict json.RawMessage) error {
	v := verified{JobID: id, Verdict: verdict}
	if j, _ := r.Find(name); j != nil {
		v.Newest = j.ID
	}
	b, err := json.Marshal(v)
	if err == nil {
		err = fsroom.MakeDir(r.verified())
	}
	if err == nil {
		err = lockfile.Replace(filepath.Join(r.verified(), name), b, r.verified())
	}
	return r.Store.Explain(err, r.verified())
}

// Verified returns the verdict that was the last answer for a name, or for the number of a job that is
// forgotten; nil where a job was started after that.
func (r *Room) Verified(ref string) json.RawMessage {
	j, _ := r.Find(ref)
	names, _ := os.ReadDir(r.verified())
	for _, n := range names {
		var v verified
		b, _ := lockfile.ReadRegular(filepath.Join(r.verified(), n.Name()), maxRecord)
		if json.Unmarshal(b, &v) != nil {
			continue
		}
		if n.Name() == ref && (j == nil || j.ID <= v.Newest) || j == nil && strconv.FormatInt(v.JobID, 10) == ref {
			return v.Verdict
		}
	}
	return nil
}

// Untold returns the jobs whose end was not told yet, the oldest first. It costs one look at a
// directory where there are none.
func (r *Room) Untold() []*Job {
	ids, _ := numbers(r.open())
	var jobs []*Job
	for _, id := range ids {
		j, err := r.Load(id)
		if errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(filepath.Join(r.open(), strconv.FormatInt(id, 10)))
		} else if err == nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// Attended reports whether somebody is there who will say how the job ends. A runner that was
// killed says nothing more, also if the kernel has not closed its files yet.
func (j *Job) Attended() bool {
	if j.Runner != nil && j.room.Table.Verdict(*j.Runner) == identity.Gone {
		return false
	}
	held, err := lockfile.Held(j.path(aliveFile))
	return held || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Runs reports whether the command runs, as far as this process can tell.
func (j *Job) Runs() bool {
	return j.Outcome == "" && (j.Attended() || j.Process != nil && j.room.Table.Verdict(*j.Process) == identity.Alive)
}

func (j *Job) isTold() bool {
	_, err := os.Lstat(j.marker())
	return errors.Is(err, fs.ErrNotExist)
}

// Told records that the end of the job was told, or that nobody is to be told.
func (j *Job) Told() { _ = os.Remove(j.marker()) }

// Join makes an agent one of those who are told the end of the job. It reports false if the job has ended
// already, and its end may have been told. Its end is on disk before it is told, so whoever has
// written its name before that is told.
func (j *Job) Join(agent string) (bool, error) {
	if agent != j.Agent && !slices.Contains(j.Joined(), agent) {
		f, err := lockfile.OpenRegular(j.path(joinedFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND)
		if err != nil {
			return false, j.room.Store.Explain(err, j.path(joinedFile))
		}
		lockfile.Adopt(j.path(joinedFile))
		_, err = f.WriteString(agent + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return false, j.room.Store.Explain(err, j.path(joinedFile))
		}
	}
	fresh, err := j.room.Load(j.ID)
	return err == nil && fresh.Outcome == "", nil
}

// Joined returns who is told the end of the job besides the agent that started it.
func (j *Job) Joined() []string {
	b, _ := lockfile.ReadRegular(j.path(joinedFile), maxRecord)
	return strings.Fields(string(b))
}

// End returns what the starter is told of the end.
func (j *Job) End() *talk.JobEnd {
	e := &talk.JobEnd{
		ID: j.ID, Name: j.Name, Outcome: j.Outcome, Exit: j.Exit, Signal: j.Signal,
		Tree: j.Tree, TreeMoved: j.TreeMoved, LogBytes: j.LogBytes,
	}
	if len(j.Command) > 0 {
		e.Program = filepath.Base(j.Command[0])
	}
	if j.StartedAt != nil && j.EndedAt != nil {
		e.Duration = max(0, j.EndedAt.Sub(j.StartedAt.Time).Milliseconds())
	}
	if ids, err := numbers(j.room.Dir()); err == nil && len(ids) > 0 {
		e.Oldest = ids[0]
	}
	return e
}

// A View is a job as results have it.
type View struct {
	Job
	RoomID   string `json:"room_id"`
	State    string `json:"state"` // running, ended
	PID      int    `json:"pid,omitempty"`
	Runner   string `json:"runner"` // alive, gone
	Duration *int64 `json:"duration_ms,omitempty"`
	Log      string `json:"log"`
	LogBytes int64  `json:"log_bytes"`

	// What only the file of the job has.
	Root       string   `json:"root,omitempty"`
	TreeState  string   `json:"tree_state,omitempty"`
	Recheck    bool     `json:"recheck,omitempty"`
	Program    string   `json:"program,omitempty"`
	Process    *string  `json:"process,omitempty"`
	Overridden []string `json:"overridden,omitempty"`
	Own        []string `json:"own,omitempty"`
}

// The states of a job.
const (
	Running = "running"
	Ended   = "ended"
)

// View returns the job as results have it.
func (j *Job) View() *View {
	v := &View{Job: *j, RoomID: j.room.Name, State: Running, Runner: string(identity.Gone), Log: j.Log(), LogBytes: j.Written(),
		Program: j.End().Program}
	if j.Process != nil {
		v.PID = j.Process.PID
	}
	if j.Attended() {
		v.Runner = string(identity.Alive)
	}
	switch {
	case j.Outcome != "":
		v.State, v.LogBytes = Ended, j.LogBytes
		if d := j.End().Duration; j.StartedAt != nil {
			v.Duration = &d
		}
	case j.StartedAt != nil:
		d := max(0, time.Since(j.StartedAt.Time).Milliseconds())
		v.Duration = &d
	}
	return v
}

// save replaces job.json. Its content is on disk when save returns.
func (j *Job) save() error {
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return lockfile.Replace(j.path(recordFile), append(b, '\n'), j.room.job(j.ID))
}

func now() *event.Time {
	t := event.NewTime(time.Now())
	return &t
}

package jobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/lockfile"
)

// MaxRunning is how many jobs of a room may run at once. Tests set less.
var MaxRunning = 32

// A Start is a job that is to be started.
type Start struct {
	Job
	Above int64                                     // its number is higher
	Spawn func(dir string, files ...*os.File) error // starts the runner, see [Runner], of the job in the directory
	Fault func(step string)                         // called after each step; nil outside tests
}

// Start starts a job and returns when its command runs.
func (r *Room) Start(s *Start) (*Job, error) {
	r.Prune()
	running := 0
	for _, j := range r.Untold() {
		if j.Runs() {
			running++
		}
	}
	if running >= MaxRunning {
		return nil, code.New(code.JobLimit, "%d jobs of the room run already", running).
			WithHint("wait for one, or stop one: tt job list").With("running", running)
	}
	j := &s.Job
	j.room, j.AskedAt = r, *now()
	if err := r.claim(j, s.Above); err != nil {
		return nil, r.Store.Explain(err, r.Dir())
	}
	s.at("claimed")
	alive, err := lockfile.HoldFile(j.path(aliveFile))
	if err != nil {
		return nil, r.unmake(j, err)
	}
	defer alive.Close()
	if err := j.save(); err != nil {
		return nil, r.unmake(j, err)
	}
	s.at("written")
	if err := r.mark(j); err != nil {
		return nil, r.unmake(j, err)
	}
	s.at("opened")
	err = r.startRunner(s, alive)
	if err != nil && !errors.Is(err, errVanished) {
		return nil, r.unmake(j, err)
	}
	started, loadErr := r.Load(j.ID)
	if err = errors.Join(err, loadErr); err != nil && (started == nil || started.StartedAt == nil) {
		return nil, code.New(code.JobLost, "job %s is lost: %v", j.End().Title(), err).
			WithHint("its command may run all the same: tt job show %d", j.ID).With("job_id", j.ID).Because(err)
	}
	return started, nil
}

// errVanished means that a runner has ended without a word. Nobody knows what it has done.
var errVanished = errors.New("its runner has ended")

func (s *Start) at(step string) {
	if s.Fault != nil {
		s.Fault(step)
	}
}

// claim gives the job a number, which nothing but its directory has.
func (r *Room) claim(j *Job, above int64) error {
	if err := fsroom.MakeDir(r.open()); err != nil {
		return err
	}
	ids, err := numbers(r.Dir())
	if err != nil {
		return err
	}
	j.ID = above + 1
	if n := len(ids); n > 0 {
		j.ID = max(j.ID, ids[n-1]+1)
	}
	for ; ; j.ID++ {
		err := os.Mkdir(r.job(j.ID), 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			lockfile.Adopt(r.job(j.ID))
		}
		return err
	}
}

// mark makes the end of the job one that is to be told.
func (r *Room) mark(j *Job) error {
	f, err := lockfile.OpenRegular(j.marker(), os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	lockfile.Adopt(j.marker())
	return errors.Join(f.Close(), lockfile.SyncDir(r.open()))
}

// unmake removes a job whose command did not start.
func (r *Room) unmake(j *Job, err error) error {
	j.Told()
	_ = os.RemoveAll(r.job(j.ID))
	return r.Store.Explain(err, r.Dir())
}

// The files that a runner inherits, besides standard input, output and error.
const (
	readyFD = 3 // it writes saidOK, saidFull or what went wrong, and closes it
	aliveFD = 4 // it holds the file alive by it
)

// What a runner says of the start of the command.
const (
	saidOK   = "ok"
	saidFull = "disk full" // there was no space for the record of the job
)

// startRunner starts the runner, and returns when it has started the command.
func (r *Room) startRunner(s *Start, alive *os.File) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	err = s.Spawn(r.job(s.ID), write, alive)
	write.Close()
	if err != nil {
		return err
	}
	s.at("forked")
	said, err := io.ReadAll(io.LimitReader(read, 4096))
	if err != nil {
		return err
	}
	switch string(said) {
	case saidOK:
		return nil
	case saidFull:
		return syscall.ENOSPC
	case "":
		return errVanished
	}
	return &NotStartedError{strings.TrimSpace(string(said))}
}

// A NotStartedError says why the command of a job did not start.
type NotStartedError struct{ Why string }

func (e *NotStartedError) Error() string { return "the command did not start: " + e.Why }

// At returns the job whose directory is dir, as its runner is told it.
func At(store *fsroom.Store, dir string) (*Room, int64, error) {
	id, err := strconv.ParseInt(filepath.Base(dir), 10, 64)
	r := &Room{Store: store, Name: filepath.Base(filepath.Dir(dir))}
	if err == nil && r.job(id) != dir {
		err = fmt.Errorf("%s is no directory of a job", dir)
	}
	return r, id, err
}

// WouldDie says why a job that this process starts would end with it, "" if it would not: all
// processes of a pid namespace are killed when its first process ends. A sandbox that makes one
// for a single call has itself, this process or its shell as that first process.
func WouldDie(table identity.Table) string {
	const why = "a sandbox ends all processes of the call when it ends"
	if os.Getpid() == 1 {
		return why
	}
	first, err := table.Inspect(1)
	if err != nil {
		return ""
	}
	if first.Name == "bwrap" || len(first.Args) > 0 && filepath.Base(first.Args[0]) == "bwrap" {
		return why
	}
	if os.Getppid() == 1 && len(first.Args) > 1 && strings.HasSuffix(filepath.Base(first.Args[0]), "sh") &&
		slices.Contains(first.Args[1:2], "-c") {
		return why
	}
	return ""
}

package jobs

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/talk"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/lockfile"
)

// An endingTable says of each process that it has ended, just when it is asked.
type endingTable struct {
	identity.Table
	ends func()
}

func (t endingTable) Verdict(identity.Process) identity.Verdict {
	t.ends()
	return identity.Gone
}

// A job whose runner and command end while it is looked at is lost at once: nothing would wake
// who looks at it again.
func TestJobThatEndsDuringALook(t *testing.T) {
	for name, closes := range map[string]bool{"its files are closed": true, "its files are still open": false} {
		t.Run(name, func(t *testing.T) { endsDuringALook(t, closes) })
	}
}

// endsDuringALook looks at such a job. The first thread of a runner that was killed counts as
// its end, while the others may still have its files.
func endsDuringALook(t *testing.T, closes bool) {
	store, err := fsroom.Open(t.TempDir(), fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := identity.System()
	self := table.Self()
	r := &Room{Store: store, Name: "ws-1"}
	j := &Job{ID: 1, Name: "one", Agent: "a:1", Runner: &self, Process: &self, room: r}
	for _, dir := range []string{r.job(1), r.open()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.save(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(j.marker(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := lockfile.Hold(j.path(aliveFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	ends := func() {}
	if closes {
		ends = release
	}
	r.Table = endingTable{table, ends}
	told := ""
	if watched := r.Settle(func(j *Job) error { told = j.Outcome; return nil }); told != talk.JobLost || len(watched) > 0 {
		t.Errorf("told %q, watched %v", told, watched)
	}
}

// Where it cannot be read which ends are untold, no job is removed, however old.
func TestPruneKeepsWhatMayBeUntold(t *testing.T) {
	store, err := fsroom.Open(t.TempDir(), fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Room{Store: store, Name: "ws-1", Table: identity.System()}
	long := event.NewTime(time.Now().Add(-2 * keptFor))
	j := &Job{ID: 1, Name: "one", Agent: "a:1", Outcome: talk.JobLost, EndedAt: &long, room: r}
	if err := errors.Join(os.MkdirAll(r.job(1), 0o700), j.save(), os.WriteFile(r.open(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r.Prune()
	if _, err := r.Load(1); err != nil {
		t.Errorf("the job was removed: %v", err)
	}
	if err := os.Remove(r.open()); err != nil {
		t.Fatal(err)
	}
	if r.Prune(); exists(r.job(1)) {
		t.Error("a job that was told long ago is kept")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

package jobs

import (
	"fmt"
	"os"
	"testing"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity"
)

func roomOf(t *testing.T) *Room {
	store, err := fsroom.Open(t.TempDir(), fsroom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Room{Store: store, Name: "ws-1", Table: identity.System()}
}

// TestStartWithoutRecord: a command is not started while its record cannot be written. Whoever is told that it did
// not start would do it again.
func TestStartWithoutRecord(t *testing.T) {
	r := roomOf(t)
	j := &Job{ID: 1, Name: "one", Agent: "a:1", Program: "/bin/true", Command: []string{"true"}, Dir: t.TempDir(), room: r}
	if err := os.MkdirAll(r.job(1), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.save(); err != nil {
		t.Fatal(err)
	}
	runner := &Runner{Room: r, ID: 1, Begins: func(j *Job) { _ = os.RemoveAll(r.job(1)) }}
	if _, _, err := runner.begin(j); err == nil || j.Process != nil || j.StartedAt != nil {
		t.Errorf("%v, process %v, started %v", err, j.Process, j.StartedAt)
	}
}

// TestStartOnFullDisk: a start for which there is no space is refused as that, and leaves nothing.
func TestStartOnFullDisk(t *testing.T) {
	r := roomOf(t)
	_, err := r.Start(&Start{Job: Job{Name: "one", Agent: "a:1"}, Spawn: func(_ string, files ...*os.File) error {
		_, err := fmt.Fprint(files[0], saidFull)
		return err
	}})
	if code.Of(err) != code.DiskFull {
		t.Error(err)
	}
	if _, err := r.Load(1); err == nil || len(r.Untold()) > 0 {
		t.Error("the job is there")
	}
}

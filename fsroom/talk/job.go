package talk

import (
	"fmt"
	"slices"
	"time"

	"github.com/talking-stick/tt/journal/event"
)

// The outcomes of a job.
const (
	JobPassed      = "passed"       // exit status 0
	JobFailed      = "failed"       // another status, or a signal
	JobStopped     = "stopped"      // by tt job stop
	JobTimeout     = "timeout"      // it took longer than it may
	JobOutputLimit = "output_limit" // it wrote more than is kept
	JobLost        = "lost"         // nobody knows how it ended
	JobCannotRun   = "cannot_run"   // it did not start
)

// A JobEnd is the end of a job, as its starter is told of it. Neither the arguments of
// the command nor its output are part of it: an event stays for ever, and is read on all hosts.
type JobEnd struct {
	ID        int64  `json:"job_id"` // among the jobs of the room on one host
	Name      string `json:"name"`
	Program   string `json:"program,omitempty"` // the base name of the command's first word
	Outcome   string `json:"outcome"`
	Exit      *int   `json:"exit,omitempty"`       // nil: a signal ended it, or nobody knows
	Signal    string `json:"signal,omitempty"`     // "" if none ended it
	Duration  int64  `json:"duration_ms"`          // milliseconds
	Tree      string `json:"tree,omitempty"`       // the id of the tree when it began, "" if it is not known
	TreeMoved bool   `json:"tree_moved,omitempty"` // the tree was another one when it ended
	LogBytes  int64  `json:"log_bytes"`

	Host   string `json:"host_id,omitempty"`       // that of an engine, "" without one
	Oldest int64  `json:"oldest_job_id,omitempty"` // the job with the lowest number that is not forgotten
}

// Title is how people call the job: "test#17".
func (j *JobEnd) Title() string { return fmt.Sprintf("%s#%d", j.Name, j.ID) }

// Words says how a job ended: "test#17 failed with status 2 after 3m10s".
func (j *JobEnd) Words() string {
	how := j.Outcome
	switch {
	case j.Outcome == JobFailed && j.Exit != nil:
		how = fmt.Sprintf("failed with status %d", *j.Exit)
	case j.Outcome == JobFailed:
		how = "failed: " + j.Signal
	case j.Outcome == JobStopped:
		how = "was stopped"
	case j.Outcome == JobTimeout:
		how = "was ended because its time was up"
	case j.Outcome == JobOutputLimit:
		how = "wrote more than is kept (the end of it is lost) and ended"
	case j.Outcome == JobLost:
		return j.Title() + " is lost: nobody knows how it ended"
	case j.Outcome == JobCannotRun:
		return j.Title() + " could not be run"
	}
	words := fmt.Sprintf("%s %s after %s", j.Title(), how, spent(j.Duration))
	if j.TreeMoved {
		words += "; the tree was changed meanwhile"
	}
	return words
}

// spent returns a time in milliseconds as people say it.
func spent(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Second {
		d = d.Truncate(time.Second)
	}
	return d.String()
}

// JobOf returns what a job_ended event says. It is zero for another event.
func JobOf(e *event.Event) (j JobEnd) {
	if e.Type == JobEnded {
		_ = Decode(e, &j)
	}
	return j
}

// TellsJob reports whether the event tells the agent of the end of a job.
func TellsJob(e *event.Event, agent string) bool { return e.Type == JobEnded && e.To == agent }

// ToldJobs are the jobs of a host whose end was told: all with a number less than Below, and
// those of Above, which is sorted.
type ToldJobs struct {
	Host  string  `json:"host_id,omitempty"`
	Below int64   `json:"below"`
	Above []int64 `json:"above,omitempty"`
}

// Has reports whether the end of the job was told.
func (t *ToldJobs) Has(id int64) bool {
	_, above := slices.BinarySearch(t.Above, id)
	return above || id < t.Below
}

// Highest returns the highest number of a job whose end was told, or a higher number.
func (t *ToldJobs) Highest() int64 {
	if n := len(t.Above); n > 0 {
		return t.Above[n-1]
	}
	return max(t.Below-1, 0)
}

// With returns t with one more job. Jobs before the oldest one are forgotten, and need not be
// told apart.
func (t ToldJobs) With(id, oldest int64) ToldJobs {
	above := slices.Clone(t.Above)
	if at, found := slices.BinarySearch(above, id); !found && id >= t.Below {
		above = slices.Insert(above, at, id)
	}
	t.Below = max(t.Below, oldest)
	for len(above) > 0 && above[0] <= t.Below {
		t.Below, above = max(t.Below, above[0]+1), above[1:]
	}
	if t.Above = above; len(above) == 0 {
		t.Above = nil
	}
	return t
}

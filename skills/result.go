package skills

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// A Status tells what was done for one harness, or would be.
type Status string

// The statuses. Skipped means that something was deliberately left alone; the
// message says what and why.
const (
	Added          Status = "added"
	AlreadyPresent Status = "already-present"
	Updated        Status = "updated"
	Removed        Status = "removed"
	AlreadyAbsent  Status = "already-absent"
	Skipped        Status = "skipped"
	Failed         Status = "failed"
)

// weight orders statuses: of several parts of a harness the heaviest tells
// what became of the whole.
func (s Status) weight() int {
	switch s {
	case Failed:
		return 5
	case Skipped:
		return 4
	case Added, Removed:
		return 3
	case Updated:
		return 2
	case AlreadyPresent, AlreadyAbsent:
		return 1
	}
	return 0
}

// A Result is what became of one harness.
type Result struct {
	Harness harness.ID `json:"harness"`
	Status  Status     `json:"status"`
	Message string     `json:"message"`
	Paths   []string   `json:"paths,omitempty"` // of everything that is or was ours
	Steps   []Step     `json:"steps,omitempty"` // what was done, or is to be done in a dry run
}

// AnyFailed reports whether one of the results is a failure.
func AnyFailed(results []Result) bool {
	for _, r := range results {
		if r.Status == Failed {
			return true
		}
	}
	return false
}

// An outcome is what became of one part of a harness, such as the skill.
type outcome struct {
	part   string
	status Status
	path   string
	why    string // for what was skipped or failed
}

// sum makes one result of the outcomes of a harness's parts.
func (e Environment) sum(id harness.ID, outcomes []outcome) Result {
	r := Result{Harness: id}
	var sentences []string
	for _, o := range outcomes {
		if o.part == "" {
			continue
		}
		if o.status.weight() > r.Status.weight() {
			r.Status = o.status
		}
		if o.path != "" && !slices.Contains(r.Paths, o.path) {
			r.Paths = append(r.Paths, o.path)
		}
		if o.status != AlreadyAbsent {
			sentences = append(sentences, e.sentence(o))
		}
	}
	r.Message = strings.Join(sentences, "; ")
	if r.Status == AlreadyAbsent {
		r.Message = "nothing of ours is there"
	}
	return r
}

func (e Environment) sentence(o outcome) string {
	text := o.part + " " + strings.ReplaceAll(string(o.status), "-", " ")
	if o.path != "" {
		text += " (" + e.shown(o.path) + ")"
	}
	if o.why != "" {
		text += ": " + o.why
	}
	return text
}

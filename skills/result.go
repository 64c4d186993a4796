package skills

import (
	"slices"
	"strings"

	"github.com/talking-stick/tt/identity/harness"
)

// A Status is what was done for one harness, or would be done.
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

// weights orders statuses: the result of a harness is the heaviest of the outcomes
// of its components.
var weights = []Status{AlreadyAbsent, AlreadyPresent, Updated, Removed, Added, Skipped, Failed}

func (s Status) weight() int { return slices.Index(weights, s) }

// A Result is what was done for one harness, or would be done.
type Result struct {
	Harness harness.ID `json:"harness"`
	Status  Status     `json:"status"`
	Message string     `json:"message"`
	Paths   []string   `json:"paths,omitempty"` // the files that are or were ours
	Steps   []Step     `json:"steps,omitempty"` // what was done, or is to be done in a dry run
}

// AnyFailed reports whether one of the results is a failure.
func AnyFailed(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Status == Failed })
}

// An outcome is the result of one component.
type outcome struct {
	component string // its name; "" if nothing is to be reported
	status    Status
	path      string
	why       string // of Skipped and Failed
}

// sum returns the result of the outcomes of a harness's components.
func (e Environment) sum(id harness.ID, outcomes []outcome) Result {
	r := Result{Harness: id}
	var sentences []string
	for _, o := range outcomes {
		if o.component == "" {
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
		r.Message = "nothing is installed"
	}
	return r
}

func (e Environment) sentence(o outcome) string {
	text := o.component + " " + strings.ReplaceAll(string(o.status), "-", " ")
	if o.path != "" {
		text += " (" + e.shown(o.path) + ")"
	}
	if o.why != "" {
		text += ": " + o.why
	}
	return text
}

package skills

import (
	"fmt"
	"strings"
)

// An Action is what a step does to the disk.
type Action string

// The actions. Merge and Unmerge change a file that is not ours; the text of such a
// step is a diff.
const (
	Write   Action = "write"
	Merge   Action = "merge"
	Unmerge Action = "unmerge"
	Delete  Action = "remove"
)

// A Step is one change of a plan.
type Step struct {
	Action Action `json:"action"`
	Path   string `json:"path,omitempty"`
	Target string `json:"target,omitempty"`  // of a link
	Text   string `json:"text,omitempty"`    // the content of a written file, or what changes in a merged one
	SameAs string `json:"same_as,omitempty"` // instead of a text: the file that gets the same one
	Backup string `json:"backup,omitempty"`  // where the old content is kept, once the step is done

	do     func() (backup string, err error)
	record func() // changes the record to what is so once the step is done
}

// String describes the step, including the text it writes, for display.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Action, s.Path)
	if s.SameAs != "" {
		fmt.Fprintf(&b, "\n    the same text as %s", s.SameAs)
	}
	for line := range strings.Lines(s.Text) {
		b.WriteString("\n    " + strings.TrimRight(line, "\r\n"))
	}
	return b.String()
}

// apply carries out steps in order, records each, and stops at the first that fails.
func apply(steps []Step) error {
	for i := range steps {
		s := &steps[i]
		backup, err := s.do()
		if err != nil {
			return fmt.Errorf("%s cannot be changed: %w", s.Path, err)
		}
		s.Backup = backup
		if s.record != nil {
			s.record()
		}
	}
	return nil
}

package talk

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/fsroomtest/forms"
)

// TestForms: the JSON of payloads, records and results stays as it is.
func TestForms(t *testing.T) {
	t.Parallel()
	forms.Check(t, "testdata/forms.txt", []any{new(NoteView), new(MessagePayload), new(NotePayload), new(ResolvedPayload), new(BriefNote),
		new(Unread), new(JobEnd), new(ToldJobs), new(Seen)}, nil)
}

package mailbox

import (
	"testing"

	"github.com/talking-stick/tt/cmd/internal/questions"
	"github.com/talking-stick/tt/fsroom/fsroomtest/forms"
)

// TestForms: the JSON of records and results stays as it is.
func TestForms(t *testing.T) {
	t.Parallel()
	forms.Check(t, "testdata/forms.txt", []any{}, []any{new(InboxTurn), new(InboxQuestion), new(InboxNote), new(InboxAnswer), new(JobEnd), new(Need), new(questions.Question)})
}

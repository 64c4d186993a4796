package topic

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/fsroomtest/forms"
)

// TestForms: the JSON of states, payloads and results stays as it is.
func TestForms(t *testing.T) {
	t.Parallel()
	forms.Check(t, "testdata/forms.txt", []any{new(State), new(Question), new(AnswerRef), new(createdPayload), new(askedPayload),
		new(questionPayload), new(answerPayload)}, []any{new(ShownAnswer)})
}

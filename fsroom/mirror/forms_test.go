package mirror

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/fsroomtest/forms"
)

// TestForms: the JSON of records and results stays as it is.
func TestForms(t *testing.T) {
	t.Parallel()
	forms.Check(t, "testdata/forms.txt", []any{new(marker), new(copying)}, nil)
}

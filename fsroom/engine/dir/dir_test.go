package dir_test

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/dir"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		path := t.TempDir()
		return func() engine.Engine {
			e, err := dir.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		}
	})
}

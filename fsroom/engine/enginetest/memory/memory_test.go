package memory_test

import (
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/fsroom/engine/enginetest"
	"github.com/talking-stick/tt/fsroom/engine/enginetest/memory"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T) func() engine.Engine {
		e := memory.New("test", time.Now)
		t.Cleanup(func() { e.Close() })
		return func() engine.Engine { return e }
	})
}

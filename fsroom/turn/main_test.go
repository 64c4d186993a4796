package turn_test

import (
	"flag"
	"testing"
)

// TestMain lets schedules be longer than rapid's usual ones: most of what can go
// wrong in a room needs a history. The command line still decides.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.steps", "80"); err != nil {
		panic(err)
	}
	m.Run()
}

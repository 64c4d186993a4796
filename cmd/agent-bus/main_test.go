package main

import (
	"os"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/ttcmd"
)

// asProgram makes the test binary be the program: so real processes need no
// build of their own.
const asProgram = "AGENT_BUS_TEST_AS_PROGRAM"

// asTT makes it tt.
const asTT = "AGENT_BUS_TEST_AS_TT"

func TestMain(m *testing.M) {
	if os.Getenv(asTT) != "" {
		ttcmd.Main(ttcmd.Build{})
	}
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

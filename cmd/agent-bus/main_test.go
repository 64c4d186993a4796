package main

import (
	"flag"
	"os"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/ttcmd"
	"github.com/talking-stick/tt/fsroom/fsroomtest"
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
		drainTime, exitTime, signalTime = tooLong/2, tooLong/2, tooLong/2 // the machine may be busy
		main()
	}
	_ = flag.Set("test.parallel", "6") // scenarios are waiting, mostly
	os.Exit(fsroomtest.Main(m))
}

package main

import (
	"os"
	"testing"
)

// asProgram makes the test binary be the program: so real processes need no
// build of their own.
const asProgram = "AGENT_BUS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

package console

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// Two versions of go-runewidth, which measures text for the libraries used here, make
// their tables when the program starts, in 20 ms. What initialising it allocates tells,
// whatever the speed of the machine.
func TestNothingSlowIsInitialised(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const most = 10_000 // bytes; 0.0.31 takes 3464, 0.0.27 takes 18776
	found := false
	for _, m := range regexp.MustCompile(`init (\S+) @.* (\d+) bytes`).FindAllSubmatch(out, -1) {
		found = found || string(m[1]) == "github.com/mattn/go-runewidth"
		if n, _ := strconv.Atoi(string(m[2])); n > most && string(m[1]) == "github.com/mattn/go-runewidth" {
			t.Errorf("%s allocates %d bytes when it is initialised", m[1], n)
		}
	}
	if !found {
		t.Errorf("go-runewidth is not linked any more: this test and its line in go.mod can go\n%s", out)
	}
}

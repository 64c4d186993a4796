package cli

import "testing"

func TestIsText(t *testing.T) {
	for arg, want := range map[string]bool{
		"- item": true, "-x is broken": true, "--- a heading": true, "--reason two": true, "-\tx": true,
		"-": false, "--": false, "-x": false, "--reason=two words": false, "two words": false, "": false,
	} {
		if isText(arg) != want {
			t.Errorf("%q: got %v", arg, !want)
		}
	}
}

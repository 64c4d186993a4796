package fsroomtest

import "testing"

// Stride is how many steps or bytes a test that tries all of them goes at a time: one, or a few
// in short mode.
func Stride() int {
	if testing.Short() {
		return 4
	}
	return 1
}

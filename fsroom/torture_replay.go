//go:build !torture_noreplay

package fsroom

// replays is false only in a build that is wrong on purpose, to show that the
// torture tests notice.
const replays = true

//go:build torture_noreplay

package fsroom

const replays = false

//go:build !race

package ttcmd

const underRace = false

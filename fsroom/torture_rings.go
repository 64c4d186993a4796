//go:build !torture_norings

package fsroom

// rings is false only in a build that is wrong on purpose, to show that the
// torture tests notice.
const rings = true

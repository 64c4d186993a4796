//go:build !torture_nojournalsync

package journal

// syncs is false only in a build that is wrong on purpose, to show that the
// torture tests notice.
const syncs = true

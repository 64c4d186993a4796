//go:build torture_nojournalsync

package journal

const syncs = false

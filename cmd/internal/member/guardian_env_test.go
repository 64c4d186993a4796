package member

import (
	"slices"
	"testing"

	"github.com/talking-stick/tt/cmd/internal/jobs"
	"github.com/talking-stick/tt/fsroom"
)

// A guardian opens the same store as the process that started it, from another directory. One of
// a linked worktree is local, whatever engine the environment names.
func TestGuardianEnv(t *testing.T) {
	t.Setenv("TALKING_STICK_DATA_DIR", "relative/to/nothing")
	t.Setenv("TALKING_STICK_ENGINE", "nats://127.0.0.1:1/other")
	dir := t.TempDir()
	for _, c := range []struct{ set, want []string }{
		{nil, []string{"TALKING_STICK_DATA_DIR=" + dir, "TALKING_STICK_ENGINE=", "TALKING_STICK_ROOM="}},
		{[]string{"TALKING_STICK_DATA_DIR=/data", "TALKING_STICK_ENGINE=team"}, []string{"TALKING_STICK_DATA_DIR=/data", "TALKING_STICK_ENGINE=team"}},
	} {
		store, err := fsroom.Open(dir, fsroom.Options{Environ: c.set})
		if err != nil {
			t.Fatal(err)
		}
		env := jobs.Environ(storeEnviron(store)...)
		mentions := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
			return len(v) < 14 || v[:14] != "TALKING_STICK_"
		})
		if !slices.Equal(mentions, c.want) {
			t.Errorf("with %q: %q, want %q", c.set, mentions, c.want)
		}
	}
}

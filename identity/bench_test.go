package identity_test

import (
	"os"
	"testing"

	"github.com/talking-stick/tt/identity"
)

func BenchmarkVerdict(b *testing.B) {
	table := identity.System()
	parent, err := table.Inspect(os.Getppid())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		table.Verdict(parent.Process)
	}
}

func BenchmarkResolve(b *testing.B) {
	for name, v := range map[string]vars{
		"given": {"TT_HARNESS_AGENT_ID": "a"}, "human": {}, "session": {"CODEX_THREAD_ID": "t"}, "ancestry": {"CODEX_MANAGED_BY_NPM": "1"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				identity.Resolve(env(v), identity.System(), "")
			}
		})
	}
}

func BenchmarkSystemEnv(b *testing.B) {
	for b.Loop() {
		identity.SystemEnv()
	}
}

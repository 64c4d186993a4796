package guard

import (
	"testing"

	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/identity/harness"
)

// Every text that a hook gives a model is read at the price of tokens. A change of a
// size is meant, and the sizes stay small.
func TestSizesOfTexts(t *testing.T) {
	stick := &Stick{Root: "/w", Me: "claude:1f2e3d4c", Holder: "codex:2a3b4c5d", Turn: 9}
	answered := func(kind harness.Kind, r payload.Reply) int {
		out, errs, _ := payload.Answer(payload.Call{Harness: harness.ClaudeCode, Kind: kind, Event: "SessionStart"}, r)
		return len(out) + len(errs)
	}
	for name, size := range map[string][2]int{
		"still holding":        {len(stillHolding(stick, stick)), 260},
		"still reserved":       {len(stillReserved(stick)), 146},
		"held by another":      {len(heldByOther(stick, stick)), 236},
		"command refused":      {len(shellRefused(&Change{Effect: shell.Effect{Op: "git stash"}, Stick: stick}, stick)), 224},
		"stash refused":        {len(stashRefused(&Change{Effect: shell.Effect{Op: "git stash"}, Sharing: []Neighbour{{"codex:2a3b4c5d", "/v"}}})), 271},
		"frame of a context":   {answered(harness.KindSessionStart, payload.Reply{Context: "x"}) - 1, 79},
		"frame of a watch":     {answered(harness.KindSessionStart, payload.Reply{Watch: []string{"x"}}) - 1, 74},
		"frame of a wake":      {answered(harness.KindFileChanged, payload.Reply{Wake: "x"}) - 1, 1},
		"frame of a held stop": {answered(harness.KindStop, payload.Reply{Refuse: "x"}) - 1, 33},
	} {
		if size[0] != size[1] {
			t.Errorf("%s has %d bytes, not %d", name, size[0], size[1])
		}
	}
}

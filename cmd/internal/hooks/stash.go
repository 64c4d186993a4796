package hooks

import (
	"context"
	"slices"

	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/turn"
)

// Neighbours implements [guard.Rooms]. A session lives in a tree if it has a place there or is a
// member of its room. Who works in one tree and names another has neighbours in that, too.
func (r *rooms) Neighbours(_ context.Context, path string, call payload.Call) (all []guard.Neighbour) {
	w, err := r.locate(nearestDir(path))
	if err != nil || turn.IsOff(r.lookup("TALKING_STICK_SHELL_GUARD")) {
		return nil
	}
	client := *r.client
	if len(r.callers) > 0 {
		if self, err := r.callers[0](); err == nil {
			client.Self = self
		}
	}
	trees := client.Siblings(w)
	if own, err := r.locate(nearestDir(call.Dir)); call.Dir != "" && err == nil && own.Root != w.Root {
		trees = append(trees, slices.DeleteFunc(client.Siblings(own), func(t member.Sibling) bool { return t.Path != w.Root })...)
	}
	for _, tree := range trees {
		ids, _, _ := placesIn(tree.Path, &client).look()
		for _, id := range append(ids, tree.Sessions()...) {
			if n := (guard.Neighbour{AgentID: id, Path: tree.Path}); !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

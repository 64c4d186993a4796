package ttcmd

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/hook"
)

// maxPayload bounds the payload of a harness. The payload of an edit contains the text
// that it writes.
const maxPayload = 64 << 20

// A harness runs the hook commands before it stops or lets a tool write a file, see
// [hook]. They are installed into the settings of the harness; nobody types them.
var (
	stopHookCommand = &cli.Command{
		Name:   "hook " + string(hook.Stop),
		Hidden: true,
		Short:  "answer the " + string(hook.Stop) + " guard of a harness",
		Long:   hookHelp,
		Flags:  hookFlags,
		Run:    func(ctx context.Context, c *cli.Invocation) error { return runHook(ctx, c, hook.Stop) },
	}
	editHookCommand = &cli.Command{
		Name:   "hook " + string(hook.Edit),
		Hidden: true,
		Short:  "answer the " + string(hook.Edit) + " guard of a harness",
		Long:   hookHelp,
		Flags:  hookFlags,
		Run:    func(ctx context.Context, c *cli.Invocation) error { return runHook(ctx, c, hook.Edit) },
	}
)

const hookHelp = "Reads the harness's payload from standard input and prints its answer. Whatever cannot be told is let pass, in silence."

func hookFlags(f *cli.Flags) {
	f.String("harness", "NAME", "whose payload it is")
}

// runHook never fails: a guard that cannot decide must not stop an agent.
func runHook(ctx context.Context, c *cli.Invocation, kind hook.Kind) error {
	id, err := harness.Parse(c.String("harness"))
	if err != nil {
		return nil
	}
	call, reason := hook.Call{Harness: id, Kind: kind}, ""
	if asked, err := readPayload(c.Env, id, kind); err == nil {
		call, reason = asked, guardReason(ctx, c, asked)
	}
	_ = c.Out.Print(string(hook.Answer(call, reason)))
	return nil
}

// readPayload reads one JSON document. It does not wait for the end of the input,
// because a harness may keep the pipe open.
func readPayload(env *cli.Env, id harness.ID, kind hook.Kind) (hook.Call, error) {
	if env.StdinTTY {
		return hook.Call{}, io.EOF
	}
	var document json.RawMessage
	if err := json.NewDecoder(io.LimitReader(env.Stdin, maxPayload)).Decode(&document); err != nil {
		return hook.Call{}, err
	}
	return hook.Decode(id, kind, document)
}

func guardReason(ctx context.Context, c *cli.Invocation, call hook.Call) string {
	store, err := openStore(c)
	if err != nil {
		return ""
	}
	memory := hook.SeenStore{Dir: filepath.Join(store.Dir(), "told")}
	return cli.Line(hook.Decide(ctx, call, newHookRooms(c, store, call), memory))
}

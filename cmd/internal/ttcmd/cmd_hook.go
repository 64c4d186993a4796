package ttcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/skills/hook"
)

// maxPayload bounds the payload of a harness. The payload of an edit contains the text
// that it writes.
const maxPayload = 64 << 20

// A harness runs the hook commands when something happens in a session, see [hook].
// They are installed into the settings of the harness; nobody types them.
var hookCommands = func() (commands []*cli.Command) {
	for _, kind := range hook.Kinds() {
		commands = append(commands, &cli.Command{
			Name:   "hook " + string(kind),
			Hidden: true,
			Short:  "answer the " + string(kind) + " hook of a harness",
			Long: "Reads the harness's payload from standard input and prints its answer. Whatever cannot be told is let pass, in silence. " +
				"The exit status is 0, or where a hook may wake the agent 2 to do so.",
			Flags: hookFlags,
			Run:   func(ctx context.Context, c *cli.Invocation) error { return runHook(ctx, c, kind) },
		})
	}
	return commands
}()

func hookFlags(f *cli.Flags) {
	f.String("harness", "NAME", "whose payload it is")
}

// A hookRun is one run of a hook.
type hookRun struct {
	c      *cli.Invocation
	call   hook.Call
	stderr io.Writer
}

// errWakes ends a hook that wakes its agent.
var errWakes = errors.New("the agent is woken")

// runHook never fails, and writes nothing on standard error but what wakes an agent: a
// hook that cannot find out must not stop anybody, nor start a turn of a model.
func runHook(ctx context.Context, c *cli.Invocation, kind hook.Kind) (err error) {
	id, err := harness.Parse(c.String("harness"))
	if err != nil {
		return nil
	}
	h := hookRun{c: c, call: hook.Call{Harness: id, Kind: kind}, stderr: c.Env.Stderr}
	c.Env.Stderr = io.Discard
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	// The store first: the program that has its engine has to read the payload.
	if store, err := openStore(c); err == nil {
		switch err := h.run(ctx, store); {
		case errors.Is(err, errWakes):
			return cli.Exit(2)
		case errors.Is(err, errAnswered):
			return nil
		}
	}
	_ = h.answer(hook.Reply{})
	return nil
}

// errAnswered ends a hook that has given its answer.
var errAnswered = errors.New("the hook has answered")

// answer prints the reply. It returns errWakes if that wakes the agent.
func (h *hookRun) answer(r hook.Reply) error {
	stdout, stderr, status := hook.Answer(h.call, r)
	if status != 0 {
		if _, err := h.stderr.Write(stderr); err != nil {
			return err
		}
		return errWakes
	}
	return h.c.Out.Print(string(stdout))
}

// end is answer for a reply with which the hook ends.
func (h *hookRun) end(r hook.Reply) error {
	if err := h.answer(r); err != nil {
		return err
	}
	return errAnswered
}

// run returns errAnswered or errWakes if the hook has given its answer, and anything else
// if it has nothing to say.
func (h *hookRun) run(ctx context.Context, store *fsroom.Store) error {
	call, err := readPayload(h.c.Env, h.call.Harness, h.call.Kind)
	if err != nil {
		return err
	}
	h.call = call
	var reason string
	switch h.call.Kind {
	case hook.Edit:
		if reason = h.guard(ctx, store); reason == "" {
			return nil
		}
		return h.end(hook.Reply{Refuse: reason})
	case hook.Stop:
		reason = h.guard(ctx, store)
	case hook.Listen:
		if h.row().Hooks.Hold { // the hook that holds is the stop guard, too
			reason = h.guard(ctx, store)
		}
	}
	err = h.notify(ctx, store, reason)
	if reason != "" && !errors.Is(err, errAnswered) {
		return h.end(hook.Reply{Refuse: reason})
	}
	return err
}

// guard returns the reason to refuse what the harness is about to do, "" if there is none.
func (h *hookRun) guard(ctx context.Context, store *fsroom.Store) string {
	memory := hook.SeenStore{Dir: filepath.Join(store.Dir(), "told")}
	return cli.Line(hook.Decide(ctx, h.call, newHookRooms(h.c, store, h.call), memory))
}

// readDocument reads as far as a JSON object goes, or what is no object to its end.
func readDocument(r io.Reader) (document []byte, err error) {
	depth, inString, escaped := 0, false, false
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		for i, c := range chunk[:n] {
			switch {
			case escaped:
				escaped = false
			case inString:
				escaped, inString = c == '\\', c != '"'
			case c == '"':
				inString = true
			case c == '{', c == '[':
				depth++
			case c == '}', c == ']':
				if depth--; depth <= 0 {
					return append(document, chunk[:i+1]...), nil
				}
			}
		}
		document = append(document, chunk[:n]...)
		switch {
		case err == io.EOF && len(document) > 0:
			return document, nil
		case err != nil:
			return nil, err
		}
	}
}

// readPayload reads one JSON document. It does not wait for the end of the input,
// because a harness may keep the pipe open. Standard input is what was read after that.
func readPayload(env *cli.Env, id harness.ID, kind hook.Kind) (hook.Call, error) {
	if env.StdinTTY {
		return hook.Call{}, io.EOF
	}
	document, err := readDocument(io.LimitReader(env.Stdin, maxPayload))
	if err != nil {
		return hook.Call{}, err
	}
	env.Stdin = bytes.NewReader(document)
	return hook.Decode(id, kind, document)
}

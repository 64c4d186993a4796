package ttcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/cmd/internal/session"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/history"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/identity"
	"github.com/talking-stick/tt/journal/event"
)

var policyCommand = &cli.Command{
	Name:   "policy",
	Traits: cli.Traits{LastKnown: true},
	Args:   []cli.Arg{pathArg},
	Flags: func(f *cli.Flags) {
		for _, l := range turn.Limits() {
			if l.InDays() {
				f.LongDuration(l.Flag, "D", l.About)
			} else {
				f.Duration(l.Flag, "D", 0, l.About)
			}
		}
		for _, w := range turn.Switches() {
			f.Choice(w.Flag, strings.Join(w.Values, "|"), w.Values, w.About)
		}
		f.String("ledger-size", "SIZE", "how much disk the records of all trees may use, as 1GiB")
	},
	Run: runPolicy,
}

func runPolicy(ctx context.Context, c *cli.Invocation) error {
	checked := turn.DefaultPolicy()
	if err := applyFlags(c, &checked, true); err != nil {
		return err
	}
	room, _, err := openRoom(c)
	if err != nil {
		return err
	}
	var policy turn.Policy
	_, _, err = room.UpdateAsPerson(ctx, nil, func(st *turn.State, _ turn.Facts) (events []event.Event, err error) {
		events, policy, err = turn.SetPolicy(st, room.Self.ID, func(p *turn.Policy) error {
			by, err := identity.Resolve(session.IdentityEnv(c.Env, false), identity.System(), "") // whatever --agent says
			return applyFlags(c, p, room.IsHuman() && (err != nil || by.Source == identity.SourceHuman))
		})
		if len(events) == 0 {
			c.Out.Reads()
		} else if st.Member(room.Self.ID) == nil {
			err = turn.NotJoined(st, room.Self.ID)
		}
		return events, err
	})
	if err != nil {
		return err
	}
	if warning := policy.Warning(); warning != "" {
		c.Notice(warning)
	}
	return c.Out.Result(map[string]any{"policy": &policy}, func(t *cli.Text) { writePolicy(t, policy) })
}

func applyFlags(c *cli.Invocation, p *turn.Policy, person bool) error {
	for _, l := range turn.Limits() {
		if !c.Given(l.Flag) {
			continue
		}
		if err := l.Set(p, c.Duration(l.Flag)); err != nil {
			return c.Usagef("--%s", code.MessageOf(err))
		}
	}
	for _, w := range turn.Switches() {
		switch {
		case !c.Given(w.Flag):
		case w.Person && !person:
			return code.New(code.Usage, "only a person may change --%s: ask your user", w.Flag)
		default:
			if err := w.Set(p, c.String(w.Flag)); err != nil {
				return c.Usagef("--%s", code.MessageOf(err))
			}
		}
	}
	if c.Given("ledger-size") {
		size, err := parseSize(c.String("ledger-size"))
		if err != nil {
			return c.Usagef("--ledger-size: %s", err)
		}
		p.LedgerSize = size
	}
	return nil
}

func writePolicy(t *cli.Text, p turn.Policy) {
	var table cli.Table
	for _, l := range turn.Limits() {
		d := time.Duration(*l.Field(&p)) * time.Millisecond
		text := cli.Duration(d)
		if d == 0 && l.Zero {
			text = strconv.Itoa(0)
		}
		about := l.About
		if l.Flag == "heartbeat-interval" && p.RenewalInterval() != d {
			about += fmt.Sprintf(" (here every %s, three times in a lease)", cli.Duration(p.RenewalInterval()))
		}
		table.Row(l.Flag, text, t.Dim(about))
	}
	for _, w := range turn.Switches() {
		table.Row(w.Flag, *w.Field(&p), t.Dim(w.About))
	}
	table.Row("ledger-size", sizeText(p.LedgerSize), t.Dim("how much disk the records of all trees may use"))
	t.Table(&table)
}

// sizes are the units of sizes, the largest first.
var sizes = []struct {
	name string
	n    int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// parseSize reads a size such as 512MiB. A number alone is one of bytes.
func parseSize(text string) (int64, error) {
	unit, digits := int64(1), text
	for _, s := range sizes {
		if rest, ok := strings.CutSuffix(text, s.name); ok {
			unit, digits = s.n, strings.TrimSpace(rest)
			break
		}
	}
	const least, most = 1 << 20, 1 << 50
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > most/unit {
		return 0, fmt.Errorf("%q is no size, such as 512MiB or 1GiB", text)
	}
	if n*unit < least {
		return 0, errors.New("it must be at least 1MiB")
	}
	return n * unit, nil
}

// sizeText returns a size in the largest unit that fits.
func sizeText(n int64) string {
	for _, s := range sizes {
		if n%s.n == 0 {
			return strconv.FormatInt(n/s.n, 10) + s.name
		}
	}
	return ""
}

var roomExportCommand = &cli.Command{
	Name:     "room export",
	Reads:    true,
	Traits:   cli.Traits{LastKnown: true},
	Args:     []cli.Arg{pathArg},
	JSONOnly: true,
	Run:      runRoomExport,
}

func runRoomExport(ctx context.Context, c *cli.Invocation) error {
	room, err := openHistory(c, true)
	if err != nil {
		return err
	}
	lines, err := history.Lines(ctx, fsroom.At(room.Client.Store, stick, room.FS.Name()))
	if err != nil {
		return err
	}
	return c.Out.Print(string(lines))
}

var roomImportCommand = &cli.Command{
	Name: "room import",
	Args: []cli.Arg{{Name: "file", Usage: "what tt room export has printed; - is standard input"}},
	Run:  runRoomImport,
}

// A roomImportResult is what an import did.
type roomImportResult struct {
	Status       string `json:"status"` // imported, or unchanged
	RoomID       string `json:"room_id"`
	Path         string `json:"path"`
	Events       int64  `json:"events"` // in the file
	Added        int64  `json:"added"`
	LastEventSeq int64  `json:"last_event_seq"`
}

// mostImport is the longest history that is imported, in bytes: it is kept in memory.
const mostImport = 1 << 30

func runRoomImport(ctx context.Context, c *cli.Invocation) error {
	store, err := openStore(c)
	if err != nil {
		return err
	}
	w, err := locateArg(c)
	if err != nil {
		return err
	}
	lines, err := readImport(c)
	if err != nil {
		return err
	}
	name := fsroom.RoomName(w.Identity(w.Root))
	h, err := history.Check(stick, name, lines)
	if err != nil {
		return err
	}
	res := roomImportResult{Status: "imported", Path: w.Root, Events: h.Last(), LastEventSeq: h.Last()}
	for _, dir := range w.Chain() {
		if id := fsroom.RoomName(w.Identity(dir)); id == h.Room {
			name, res.Path = id, dir
		}
	}
	res.RoomID = name
	if store.IsShared() {
		res.Added, err = importShared(ctx, store, name, h)
	} else {
		isMove := func(e *event.Event) bool { // the room went on elsewhere, from where it may come back
			return e.Type == turn.Closed && strings.HasPrefix(e.Reason, turn.MovedTo)
		}
		room := fsroom.At(store, stick, name)
		if res.Added, err = history.Import(ctx, room, h, isMove); err == nil && name != h.Room {
			room.Keep(member.PathFile, res.Path)
		}
	}
	if err != nil {
		return err
	}
	if res.Added == 0 {
		res.Status = "unchanged"
	}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("The room of %s has all of the file: %s, of which %d new.", res.Path, counted(int(res.Events), "event"), res.Added)
	})
}

// readImport returns the content of the file.
func readImport(c *cli.Invocation) ([]byte, error) {
	file := c.Arg("file")
	var from io.Reader = c.Env.Stdin
	if file != "-" {
		f, err := os.Open(c.Env.Abs(file))
		if err != nil {
			return nil, c.Usagef("the file cannot be read: %v", err)
		}
		defer f.Close()
		from = f
	}
	b, err := io.ReadAll(io.LimitReader(from, mostImport+1))
	switch {
	case err != nil:
		return nil, c.Usagef("the file cannot be read: %v", err)
	case len(b) > mostImport:
		return nil, code.New(code.BodyTooLarge, "the file has more than %d bytes", mostImport).WithHint("copy the data directory instead")
	}
	return b, nil
}

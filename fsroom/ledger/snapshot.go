package ledger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Why a snapshot was taken.
const (
	WhyFirst         = "first" // a turn was asked for, and there was no snapshot yet
	WhyStart         = "start" // the beginning of a turn
	WhyEnd           = "end"   // the end of a turn
	WhyTakeover      = "takeover"
	WhyTick          = "tick" // while a turn lasts
	WhyGuard         = "guard"
	WhyPerson        = "person"
	WhyBeforeUndo    = "before_undo"
	WhyBeforeRestore = "before_restore"
	WhyUndo          = "undo" // after one
	WhyRestore       = "restore"
)

// A Snapshot is a line of the store: what the tree was at a moment.
type Snapshot struct {
	Number  int64     `json:"snapshot"`
	At      int64     `json:"at_ns"`                // the moment; of a plain scan, when it began
	End     int64     `json:"end_ns"`               // when the scan ended; At if the tree is that of one moment
	Settled int64     `json:"scanned_ns,omitempty"` // when the scan ended, if End is an earlier moment
	Why     string    `json:"why"`
	Turn    int64     `json:"turn_id,omitempty"`
	Agent   string    `json:"agent_id,omitempty"`
	Tree    ID        `json:"tree"`
	Scan    ID        `json:"scan"` // what the scan found, which may be later than the moment
	Head    Head      `json:"head"`
	Files   int       `json:"files"`
	Perm    [2]uint32 `json:"perm"`               // most files have, and most programs
	Modes   modes     `json:"modes,omitempty"`    // of files that have another
	LeftOut []LeftOut `json:"left_out,omitempty"` // not in it, or as it was before
	Unsure  []string  `json:"unsure,omitempty"`   // whether changed before or after the moment
	Note    string    `json:"note,omitempty"`
}

// modes are permissions by path.
type modes map[string]uint32

// Name returns the name of the snapshot for people: "s48".
func (s *Snapshot) Name() string { return "s" + strconv.FormatInt(s.Number, 10) }

// Scanned returns when the scan ended.
func (s *Snapshot) Scanned() int64 { return max(s.End, s.Settled) }

// Time returns the moment of the snapshot.
func (s *Snapshot) Time() time.Time { return time.Unix(0, s.At) }

// perm returns the permissions of a path.
func (s *Snapshot) perm(path string, mode uint32) uint32 {
	if p, ok := s.Modes[path]; ok {
		return p
	}
	if mode == modeExec {
		return cmp.Or(s.Perm[1], 0o755)
	}
	return cmp.Or(s.Perm[0], 0o644)
}

// ParseName returns the number in the name of a snapshot.
func ParseName(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, "s")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0
}

// Snapshots returns the lines of the store, oldest first. A line that is torn or damaged is
// left out.
func (l *Ledger) Snapshots() ([]*Snapshot, error) {
	b, err := os.ReadFile(l.linesFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*Snapshot
	for line := range bytes.Lines(b) {
		s := new(Snapshot)
		if json.Unmarshal(line, s) == nil && s.Number > 0 {
			all = append(all, s)
		}
	}
	return all, nil
}

// Find returns the snapshot with the number, nil if there is none.
func Find(all []*Snapshot, number int64) *Snapshot {
	i := slices.IndexFunc(all, func(s *Snapshot) bool { return s.Number == number })
	if i < 0 {
		return nil
	}
	return all[i]
}

// TurnOf returns the snapshots of the beginning and the end of a turn, nil for what is not
// recorded. A turn that was given to the same agent twice has its first beginning and its last
// end.
func TurnOf(all []*Snapshot, turn int64) (start, end *Snapshot) {
	for _, s := range all {
		if s.Turn != turn {
			continue
		}
		switch s.Why {
		case WhyStart:
			if start == nil {
				start = s
			}
		case WhyEnd, WhyTakeover:
			end = s
		}
	}
	return start, end
}

// appendLine adds a line and syncs it. A torn last line is ended first.
func (l *Ledger) appendLine(s *Snapshot) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := l.opts.Fault("line"); err != nil {
		return err
	}
	f, err := os.OpenFile(l.linesFile(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if n := info.Size(); n > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], n-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	if _, err := f.Write(line); err != nil {
		_ = f.Truncate(info.Size())
		return err
	}
	return f.Sync()
}

// A Request says what a snapshot stands for.
type Request struct {
	Why   string
	Turn  int64
	Agent string
	Note  string
	// Moment is when what the snapshot stands for happened, if that is over: what changed
	// later is in it as it was before. The zero time stands for now.
	Moment time.Time
	// Margin is how exact Moment is.
	Margin time.Duration
	// Line asks for a line of its own also if nothing has changed.
	Line bool
}

// Take takes a snapshot. If nothing has changed since the last one, that is the answer unless
// the request asks for a line of its own.
//
// The error is an [UnknownError]; then no snapshot was taken.
func (l *Ledger) Take(ctx context.Context, r Request) (*Snapshot, error) {
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, unknown(err)
	}
	defer unlock()
	if err := l.recover(); err != nil {
		return nil, unknown(err)
	}
	s, err := l.take(ctx, r)
	return s, unknown(err)
}

func (l *Ledger) take(ctx context.Context, r Request) (*Snapshot, error) {
	if err := l.checkSpace(); err != nil {
		return nil, err
	}
	v, err := l.look(ctx, true)
	if err != nil {
		return nil, err
	}
	defer v.close()
	all, err := l.Snapshots()
	if err != nil {
		return nil, err
	}
	return l.record(v, all, r)
}

// record makes a snapshot of what was scanned.
func (l *Ledger) record(v *View, all []*Snapshot, r Request) (*Snapshot, error) {
	s := v.now
	s.Why, s.Turn, s.Agent, s.Note = r.Why, r.Turn, r.Agent, r.Note
	if !r.Moment.IsZero() {
		if err := v.settle(s, all, r); err != nil {
			return nil, err
		}
	}
	if err := v.objects.flush(); err != nil {
		return nil, err
	}
	if len(all) > 0 {
		last := all[len(all)-1]
		if !r.Line && last.isLike(s) {
			v.writeCache()
			return last, nil
		}
		s.Number = last.Number
	}
	s.Number++
	if err := l.appendLine(s); err != nil {
		return nil, err
	}
	v.writeCache()
	return s, nil
}

// isLike reports whether two snapshots have the same content.
func (s *Snapshot) isLike(other *Snapshot) bool {
	return s.Tree == other.Tree && s.Scan == other.Scan && s.Head == other.Head && samePerms(s, other) && slices.Equal(s.LeftOut, other.LeftOut)
}

func samePerms(a, b *Snapshot) bool {
	if a.Perm != b.Perm || len(a.Modes) != len(b.Modes) {
		return false
	}
	for path, p := range a.Modes {
		if b.Modes[path] != p {
			return false
		}
	}
	return true
}

// checkSpace refuses to fill the disk: with less than 512 MiB free, or two hundredths of a
// small one, nothing is stored.
func (l *Ledger) checkSpace() error {
	free, size, ok := freeSpace(l.dir)
	if ok && free < min(l.opts.Limits.Free, size/50) {
		return &UnknownError{Why: UnknownFull}
	}
	return nil
}

// A View is the tree as it is now, compared with what is recorded. It writes nothing unless
// it belongs to a snapshot that is being taken.
type View struct {
	ledger  *Ledger
	repo    *repository
	objects *objects
	top     *directory
	now     *Snapshot
	old     map[string]*cachedDir
}

// Look scans the tree without recording anything. [View.Close] has to be called.
func (l *Ledger) Look(ctx context.Context) (*View, error) {
	v, err := l.look(ctx, false)
	return v, unknown(err)
}

// Recorded returns a view without a scan, to compare snapshots.
func (l *Ledger) Recorded() *View {
	v := &View{ledger: l, repo: findRepository(l.opts.Root, l.opts.Home)}
	v.objects = openObjects(l.objectsDir(), v.repo, l.opts.Fault)
	return v
}

// Now returns the tree as it was scanned, nil of a view without a scan. It has no number.
func (v *View) Now() *Snapshot { return v.now }

// Close closes the files of the view.
func (v *View) Close() { v.close() }

func (v *View) close() {
	v.objects.writer.abandon()
	v.objects.close()
}

func (l *Ledger) look(ctx context.Context, keep bool) (*View, error) {
	v := l.Recorded()
	v.objects.keep = keep
	v.old = readCache(l.cacheFile())
	if top := v.old[""]; top == nil || !v.objects.owns(top.id) {
		v.old = map[string]*cachedDir{} // the store was lost, or its packs
	}
	s := &scanner{ctx: ctx, root: l.opts.Root, home: l.opts.Home, limits: l.opts.Limits, old: v.old, objects: v.objects}
	head := v.repo.head()
	top, err := s.scan(v.repo)
	if err == nil && top.id == (ID{}) {
		top.id, err = v.objects.put(kindTree, nil)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	v.top = top
	v.now = &Snapshot{At: s.started, End: time.Now().UnixNano(), Tree: top.id, Scan: top.id, Head: head, Files: s.count, LeftOut: s.left}
	v.now.Perm, v.now.Modes = top.permissions()
	return v, nil
}

// owns reports whether the object is in the store.
func (o *objects) owns(id ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.isOwn(id)
}

// writeCache writes what the scan found. Without it the next scan reads more.
func (v *View) writeCache() {
	if old := v.old[""]; old != nil && v.top.same && old.id == v.top.id {
		return
	}
	if v.ledger.opts.Fault("cache") == nil {
		_ = writeCache(v.ledger.cacheFile(), v.top)
	}
}

// each calls f for each file of the directory and below it.
func (d *directory) each(f func(path string, in *directory, file *file)) {
	for i := range d.files {
		if sub := d.files[i].sub; sub != nil {
			sub.each(f)
		} else {
			f(d.prefix()+d.files[i].name, d, &d.files[i])
		}
	}
}

// permissions returns what most files and most programs have, and the exceptions.
func (d *directory) permissions() (most [2]uint32, other modes) {
	var counts [2]map[uint32]int
	counts[0], counts[1] = map[uint32]int{}, map[uint32]int{}
	class := func(f *file) int {
		if f.mode == modeExec {
			return 1
		}
		return 0
	}
	d.each(func(_ string, _ *directory, f *file) {
		if isRegular(f.mode) {
			counts[class(f)][f.perm]++
		}
	})
	for c := range counts {
		for p, n := range counts[c] {
			if n > counts[c][most[c]] || n == counts[c][most[c]] && p < most[c] {
				most[c] = p
			}
		}
	}
	d.each(func(path string, _ *directory, f *file) {
		if isRegular(f.mode) && f.perm != most[class(f)] {
			if other == nil {
				other = modes{}
			}
			other[path] = f.perm
		}
	})
	return most, other
}

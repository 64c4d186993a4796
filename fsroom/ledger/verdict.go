package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// A StateID names the state of a whole tree: the content, the kind and the permissions of every
// file. It is a hash of [Snapshot.Tree] and of permissions, of which a tree of git has one bit.
type StateID string

// State returns the id of the tree of the snapshot. Snapshots have the same id only if no file that
// is recorded differs in a byte or in its permissions.
func (s *Snapshot) State() StateID {
	h := sha256.New()
	h.Write(s.Tree[:])
	put := func(perm uint32) { h.Write([]byte(strconv.FormatUint(uint64(perm), 8) + "\n")) }
	put(s.Perm[0])
	put(s.Perm[1])
	for _, path := range slices.Sorted(maps.Keys(s.Modes)) {
		h.Write([]byte(path + "\x00"))
		put(s.Modes[path])
	}
	return StateID(hex.EncodeToString(h.Sum(nil)[:16]))
}

// An Ask is a question that a verdict answers: does this command succeed on this tree?
type Ask struct {
	State   StateID
	Name    string
	Command []string
	Dir     string // relative to the tree, "." for its root
}

// id names the question: the state, and a hash of all else. Each text is hashed with its length, so that no two
// questions are hashed alike.
func (a *Ask) id() string {
	h := sha256.New()
	for _, text := range slices.Concat([]string{a.Name, a.Dir}, a.Command) {
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	return string(a.State) + "-" + hex.EncodeToString(h.Sum(nil))
}

// A Verdict says that a command has succeeded on a tree, which was the same when the command began and when it ended.
type Verdict struct {
	Name     string   `json:"name"`
	Command  []string `json:"command,omitempty"` // nil if it is longer than maxCommand
	Dir      string   `json:"cwd"`               // relative to the tree
	Tree     string   `json:"tree"`              // as git names it
	Agent    string   `json:"agent_id"`
	At       string   `json:"at"` // when the command had ended, as in events
	JobID    int64    `json:"job_id"`
	Duration int64    `json:"duration_ms"`

	State StateID `json:"-"` // of the tree
}

// Time returns when the command had ended, the zero time if that is not known.
func (v *Verdict) Time() time.Time {
	at, _ := time.Parse(time.RFC3339, v.At)
	return at
}

// Short returns the verdict without a command that is longer than so many characters.
func (v Verdict) Short(most int) Verdict {
	if len([]rune(strings.Join(v.Command, " "))) > most {
		v.Command = nil
	}
	return v
}

// Verdicts are lines of a file beside the store, in the order in which they were recorded:
//
//	<id of the question> <check sum of the others> <the [Verdict] as JSON>
//
// Nothing depends on a verdict being there. A miss is always right: whoever asks runs the command
// again, which costs time and tells the truth. So a line that cannot be read, is damaged or answers
// another question is a miss, and a verdict may be removed at any moment. A hit is right only if everything
// that was asked is the same, so everything is in the id, and is compared with the verdict as well.
func (l *Ledger) verdictsFile() string { return filepath.Join(l.dir, "verdicts.list") }

const (
	// maxVerdicts is how many a tree has: more names and commands than anybody has, and few enough to
	// read them all. The oldest go first.
	maxVerdicts = 200
	// maxCommand is how many characters of a command are kept to be shown. The id has all of it.
	maxCommand = 4 << 10
	// verdictsPatience bounds the wait for another process that changes the file.
	verdictsPatience = 5 * time.Second
)

// A verdictLine is a line of the file, with a [Verdict] as JSON.
type verdictLine struct{ id, verdict string }

func (v verdictLine) String() string {
	sum := crc32.ChecksumIEEE([]byte(v.id + v.verdict))
	return v.id + " " + strconv.FormatUint(uint64(sum), 16) + " " + v.verdict + "\n"
}

// state returns the first part of the id: that of the tree.
func (v verdictLine) state() StateID { state, _, _ := strings.Cut(v.id, "-"); return StateID(state) }

// verdictLines returns the whole lines, and how many are damaged.
func (l *Ledger) verdictLines() (lines []verdictLine, damaged int) {
	b, err := lockfile.ReadRegular(l.verdictsFile(), maxVerdicts*8*maxCommand)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 1
	}
	for text := range strings.Lines(string(b)) {
		if f := append(strings.SplitN(strings.TrimSuffix(text, "\n"), " ", 3), "", ""); (verdictLine{f[0], f[2]}).String() == text {
			lines = append(lines, verdictLine{f[0], f[2]})
		} else {
			damaged++
		}
	}
	return lines, damaged
}

// changeVerdicts removes the damaged lines and those for which drop returns true, and adds others.
func (l *Ledger) changeVerdicts(drop func(verdictLine) bool, added ...verdictLine) error {
	ctx, cancel := context.WithTimeout(context.Background(), verdictsPatience)
	defer cancel()
	free, err := lockfile.Lock(ctx, l.verdictsFile()+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = free() }()
	lines, _ := l.verdictLines()
	lines = append(slices.DeleteFunc(lines, drop), added...)
	var b []byte
	for _, line := range lines[max(0, len(lines)-maxVerdicts):] {
		b = append(b, line.String()...)
	}
	return lockfile.Replace(l.verdictsFile(), b, l.dir)
}

// FindVerdict returns the verdict that answers a question, nil if there is none.
func (l *Ledger) FindVerdict(a Ask) *Verdict {
	for _, v := range l.verdicts(a.id()) {
		if v.Name == a.Name && v.Dir == a.Dir && (v.Command == nil || slices.Equal(v.Command, a.Command)) {
			return v
		}
	}
	return nil
}

// Verdicts returns the verdicts on one state of the tree, the newest first.
func (l *Ledger) Verdicts(of StateID) []*Verdict { return l.verdicts(string(of) + "-") }

// AllVerdicts returns the verdicts on all states of the tree, the newest first.
func (l *Ledger) AllVerdicts() []*Verdict { return l.verdicts("") }

// verdicts returns those that answer questions whose ids begin with a prefix.
func (l *Ledger) verdicts(prefix string) (found []*Verdict) {
	lines, _ := l.verdictLines()
	for _, line := range lines {
		v := new(Verdict)
		if !strings.HasPrefix(line.id, prefix) || json.Unmarshal([]byte(line.verdict), v) != nil {
			continue
		}
		v.State = line.state()
		found = append(found, v)
	}
	slices.SortStableFunc(found, func(a, b *Verdict) int {
		return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(b.JobID, a.JobID))
	})
	return found
}

// AddVerdict records that a command has succeeded. The verdict's name, command, directory and state are
// those of the question.
func (l *Ledger) AddVerdict(a Ask, v Verdict) error {
	v.Name, v.Dir, v.Command = a.Name, a.Dir, a.Command
	b, err := json.Marshal(v.Short(maxCommand))
	if err != nil {
		return err
	}
	return l.changeVerdicts(a.isOf, verdictLine{a.id(), string(b)})
}

// Withdraw removes the verdict that answers a question, if there is one: the command has failed.
func (l *Ledger) Withdraw(a Ask) {
	if len(l.verdicts(a.id())) > 0 && l.changeVerdicts(a.isOf) != nil {
		_ = os.Remove(l.verdictsFile()) // as where the disk is full
	}
}

func (a *Ask) isOf(line verdictLine) bool { return line.id == a.id() }

// dropVerdicts removes the verdicts on trees that none of the snapshots has.
func (l *Ledger) dropVerdicts(kept []*Snapshot) {
	states := make(map[StateID]bool)
	for _, s := range kept {
		states[s.State()] = true
	}
	isGone := func(line verdictLine) bool { return !states[line.state()] }
	if lines, _ := l.verdictLines(); slices.ContainsFunc(lines, isGone) {
		_ = l.changeVerdicts(isGone)
	}
}

// Partial names what keeps a tree from having a verdict: what is left out of it, or was changed at a
// moment that is not known. It is nil of a tree that is recorded whole.
func (s *Snapshot) Partial() []LeftOut {
	left := slices.Clone(s.LeftOut)
	for _, path := range s.Unsure {
		left = append(left, LeftOut{Path: path, Why: "unsure"})
	}
	return left
}

// LockVerdicts makes the store if it is missing, and lets one process at a time look for a verdict and
// start the command that is to make it.
func (l *Ledger) LockVerdicts(ctx context.Context) (unlock func(), err error) {
	if err := l.prepare(); err != nil {
		return nil, err
	}
	free, err := lockfile.Lock(ctx, filepath.Join(l.dir, "verdicts.lock"))
	if err != nil {
		return nil, err
	}
	return func() { _ = free() }, nil
}

// VerifiedWords says in a line what JSON of a list of verdicts says, "" if there is none.
func VerifiedWords(raw json.RawMessage) string {
	const most = 3
	var list []Verdict
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var said, names []string
	for i := range list[:min(len(list), most)] {
		v := &list[i]
		said, names = append(said, " on this tree, "+v.Agent+", "+v.Time().Local().Format("15:04")), append(names, v.Name)
	}
	words := sayOnce(names, said)
	if more := len(list) - most; more > 0 {
		words = append(words, "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(words, "; ")
}

// sayOnce returns what is said of each of the names in turn, and once what is said of several in a row.
func sayOnce(names, said []string) (lines []string) {
	for i := 0; i < len(names); {
		first := i
		for i++; i < len(names) && said[i] == said[first]; i++ {
		}
		of := slices.Clone(names[first:i])
		slices.Sort(of)
		lines = append(lines, strings.Join(slices.Compact(of), ", ")+said[first])
	}
	return lines
}

// A LastVerdict is the last verdict of a name, and whether the tree is still the one that it is on.
type LastVerdict struct {
	Verdict
	Current bool `json:"current"`
}

// LastWords says a list of last verdicts in lines: "lint, test passed on this tree, by a:1, just now". when says a time.
func LastWords(list []LastVerdict, when func(time.Time) string) []string {
	var names, said []string
	for i := range list {
		v, on := &list[i], "on this tree"
		if !v.Current {
			on = "not on this tree: it has changed"
		}
		names, said = append(names, v.Name), append(said, " passed "+on+", by "+v.Agent+", "+when(v.Time()))
	}
	return sayOnce(names, said)
}

// lastNames is of how many names there is a last verdict at most.
const lastNames = 3

// LastVerdicts returns the last verdict of each of the last names, the newest first. The tree is looked at only where
// there are some, until ctx ends: what is not known is not current.
func (l *Ledger) LastVerdicts(ctx context.Context) (list []LastVerdict) {
	for _, v := range l.AllVerdicts() {
		if len(list) < lastNames && !slices.ContainsFunc(list, func(s LastVerdict) bool { return s.Name == v.Name }) {
			list = append(list, LastVerdict{Verdict: *v})
		}
	}
	if list == nil {
		return nil
	}
	view, err := l.Look(ctx)
	if err != nil {
		return list
	}
	defer view.Close()
	if now := view.Now; len(now.LeftOut) == 0 {
		for i := range list {
			list[i].Current = list[i].State == now.State()
		}
	}
	return list
}

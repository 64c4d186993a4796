package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
type StateID [16]byte

// An AskID names what a command was asked about: the state of a tree, the name, the command and its
// directory. It is made by [Ask.id] alone.
type AskID [sha256.Size]byte

func (id StateID) String() string { return hex.EncodeToString(id[:]) }
func (id AskID) String() string   { return hex.EncodeToString(id[:]) }

// ParseState returns the id that String has returned; ok is false for any other text.
func ParseState(text string) (id StateID, ok bool) {
	b, err := hex.DecodeString(text)
	return id, err == nil && copy(id[:], b) == len(b) && len(b) == len(id)
}

// State returns the id of the tree of the snapshot. Snapshots have the same id only if no file that
// is recorded differs in a byte or in its permissions.
func (s *Snapshot) State() (id StateID) {
	h := sha256.New()
	h.Write(s.Tree[:])
	put := func(perm uint32) { h.Write([]byte(strconv.FormatUint(uint64(perm), 8) + "\n")) }
	put(s.Perm[0])
	put(s.Perm[1])
	for _, path := range slices.Sorted(maps.Keys(s.Modes)) {
		h.Write([]byte(path + "\x00"))
		put(s.Modes[path])
	}
	copy(id[:], h.Sum(nil))
	return id
}

// An Ask is a question that a verdict answers: does this command succeed on this tree?
type Ask struct {
	State   StateID
	Name    string
	Command []string
	Dir     string // relative to the tree, "." for its root
}

// id returns the id of the question. Each text is hashed with its length, so that no two questions are hashed alike.
func (a *Ask) id() (id AskID) {
	h := sha256.New()
	h.Write(a.State[:])
	for _, text := range slices.Concat([]string{a.Name, a.Dir}, a.Command) {
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	copy(id[:], h.Sum(nil))
	return id
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

// Verdicts are files beside the store, one each:
//
//	<store>/verdicts/<state>-<ask>
//
// A file has the name of its outcome and a line end, then a [verdictFile] as JSON. Its time of modification is when
// it was used last, give or take usedEvery.
//
// Nothing depends on a verdict being there. A miss is always right: whoever asks runs the command
// again, which costs time and tells the truth. So a file that cannot be read, is damaged or answers
// another question is a miss; a verdict may be removed at any moment; and a file is written as a whole or
// not at all, so no lock is needed. A hit is right only if everything that was asked is the same, so
// everything is in the AskID, and is compared with the file as well.
const verdictsDir = "verdicts"

const (
	// maxVerdicts is how many a tree has: more names and commands than anybody has, and few enough to
	// read them all. Those that were not used for the longest time go first.
	maxVerdicts = 200
	// usedEvery is how often the use of a verdict is marked. Nobody tells by an hour which of 200 goes,
	// and a question that writes nothing costs nothing but reading.
	usedEvery = time.Hour
	// maxCommand is how many bytes of a command are kept to be shown. The AskID has all of it.
	maxCommand = 4 << 10
	// maxVerdict is how many bytes of a file are read.
	maxVerdict = 64 << 10
)

type verdictFile struct {
	State string `json:"state"`
	Ask   string `json:"ask"`
	Verdict
}

func (l *Ledger) verdictsDir() string { return filepath.Join(l.dir, verdictsDir) }

func (l *Ledger) verdictPath(a *Ask) string {
	return filepath.Join(l.verdictsDir(), a.State.String()+"-"+a.id().String())
}

var errVerdict = errors.New("the verdict is damaged")

// readVerdict reads the file of a verdict, whose name says which one it is.
func readVerdict(path string) (*Verdict, error) {
	b, err := lockfile.ReadRegular(path, maxVerdict)
	if err != nil {
		return nil, err
	}
	said, body, _ := strings.Cut(string(b), "\n")
	var f verdictFile
	if said != outcomeOf([]byte(body)) || json.Unmarshal([]byte(body), &f) != nil || f.State+"-"+f.Ask != filepath.Base(path) {
		return nil, errVerdict
	}
	state, ok := ParseState(f.State)
	if !ok {
		return nil, errVerdict
	}
	f.Verdict.State = state
	return &f.Verdict, nil
}

// outcomeOf names what came out of a question, by a hash of the content of a verdict's file, which
// begins with it: a file that is damaged, or was cut off, has another one.
func outcomeOf(body []byte) string {
	id := sha256.Sum256(body)
	return hex.EncodeToString(id[:])
}

// FindVerdict returns the verdict that answers a question, nil if there is none.
func (l *Ledger) FindVerdict(a Ask) *Verdict {
	path := l.verdictPath(&a)
	v, err := readVerdict(path)
	if err != nil || v.Name != a.Name || v.Dir != a.Dir || v.Command != nil && !slices.Equal(v.Command, a.Command) {
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		if age := time.Since(info.ModTime()); age < 0 || age >= usedEvery { // the clock may have been put back
			_ = lockfile.Touch(path, time.Now())
		}
	}
	return v
}

// Verdicts returns the verdicts on one state of the tree, the newest first.
func (l *Ledger) Verdicts(of StateID) []*Verdict { return l.verdicts(of.String() + "-") }

// AllVerdicts returns the verdicts on all states of the tree, the newest first.
func (l *Ledger) AllVerdicts() []*Verdict { return l.verdicts("") }

func (l *Ledger) verdicts(prefix string) (found []*Verdict) {
	names, _ := os.ReadDir(l.verdictsDir())
	for _, n := range names {
		if !strings.HasPrefix(n.Name(), prefix) {
			continue
		}
		if v, err := readVerdict(filepath.Join(l.verdictsDir(), n.Name())); err == nil {
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b *Verdict) int {
		return cmp.Or(b.Time().Compare(a.Time()), cmp.Compare(b.JobID, a.JobID))
	})
	return found
}

// AddVerdict records that a command has succeeded. The verdict's name, command, directory and state are
// those of the question.
func (l *Ledger) AddVerdict(a Ask, v Verdict) error {
	v.Name, v.Dir, v.Command, v.State = a.Name, a.Dir, a.Command, a.State
	if len(strings.Join(v.Command, " ")) > maxCommand {
		v.Command = nil
	}
	body, err := json.Marshal(verdictFile{a.State.String(), a.id().String(), v})
	if err != nil {
		return err
	}
	if err := lockfile.MakeDirs(l.verdictsDir(), 0o700); err != nil {
		return err
	}
	l.trimVerdicts(maxVerdicts - 1)
	return lockfile.Replace(l.verdictPath(&a), append([]byte(outcomeOf(body)+"\n"), body...), l.dir)
}

// Withdraw removes the verdict that answers a question, if there is one: the command has failed.
func (l *Ledger) Withdraw(a Ask) { _ = os.Remove(l.verdictPath(&a)) }

// trimVerdicts removes the verdicts that were not used for the longest time until there are so many.
func (l *Ledger) trimVerdicts(most int) {
	names, _ := os.ReadDir(l.verdictsDir())
	if len(names) <= most {
		return
	}
	used := make(map[string]time.Time)
	for _, n := range names {
		if info, err := n.Info(); err == nil {
			used[n.Name()] = info.ModTime()
		}
	}
	oldest := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return used[a].Compare(used[b]) })
	for _, name := range oldest[:max(0, len(oldest)-most)] {
		_ = os.Remove(filepath.Join(l.verdictsDir(), name))
	}
}

// dropVerdicts removes the verdicts on trees that none of the snapshots has.
func (l *Ledger) dropVerdicts(kept []*Snapshot) {
	names, err := os.ReadDir(l.verdictsDir())
	if err != nil {
		return
	}
	states := make(map[string]bool)
	for _, s := range kept {
		states[s.State().String()] = true
	}
	for _, n := range names {
		if state, _, _ := strings.Cut(n.Name(), "-"); !states[state] {
			_ = os.Remove(filepath.Join(l.verdictsDir(), n.Name()))
		}
	}
}

// damagedVerdicts returns the files of verdicts that are misses because they are damaged.
func (l *Ledger) damagedVerdicts() (paths []string) {
	names, _ := os.ReadDir(l.verdictsDir())
	for _, n := range names {
		path := filepath.Join(l.verdictsDir(), n.Name())
		if _, err := readVerdict(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	return paths
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

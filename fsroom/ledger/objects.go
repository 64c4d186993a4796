package ledger

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/talking-stick/tt/lockfile"
)

// objects are all objects that can be read: our own, and those of the user's repository.
type objects struct {
	dir    string   // our own
	theirs []string // the object directories of the user's repository
	keep   bool     // link what is borrowed, and write what is new
	fault  func(string) error
	mu     sync.Mutex
	own    []*pack
	user   []*pack
	gone   []*pack         // that were ours; somebody may read them still
	linked map[string]bool // packs of the user's: whether they could be linked
	fresh  map[ID][]byte   // what is not written yet, as it stands in a pack
	size   int             // of fresh
	packs  []string        // indexes of packs that were written and are not durable yet
	later  bool            // another process makes them durable; then there is one at most
	unread error           // of a pack of ours that is there and cannot be opened
	trees  map[ID][]entry  // that were read; neighbouring snapshots have most in common

	noModes  bool        // the user's repository does not look at modes
	converts bool        // git may store a file as something else
	stored   map[ID][]ID // as what it may, by what is in the tree
}

func openObjects(dir string, repo *repository, fault func(string) error) *objects {
	o := &objects{dir: dir, fault: fault, linked: map[string]bool{}, fresh: map[ID][]byte{}, trees: map[ID][]entry{}, stored: map[ID][]ID{}}
	o.own, o.unread = openPacks(dir, nil)
	if repo != nil {
		o.theirs, o.noModes, o.converts = repo.objectDirs(), repo.config.noModes, repo.converts()
		for _, dir := range o.theirs {
			o.user, _ = openPacks(dir, o.user)
		}
	}
	return o
}

var listPacks = os.ReadDir // replaced in tests

// openPacks adds the packs of an object directory. unread is the error of one that is there and
// cannot be opened, or of the directory. What a power cut has damaged counts as gone.
func openPacks(dir string, packs []*pack) (all []*pack, unread error) {
	folder := filepath.Join(dir, "pack")
	files, err := listPacks(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		unread = err
	}
	for _, f := range files {
		idx := filepath.Join(folder, f.Name())
		if filepath.Ext(idx) != ".idx" {
			continue
		}
		whole, err := true, error(nil)
		if isUnsynced(idx) {
			whole, err = looksWhole(idx)
		}
		var p *pack
		if whole && err == nil {
			p, err = openPack(idx)
		}
		switch {
		case err != nil && !IsLost(err):
			unread = err
		case p != nil:
			packs = append(packs, p)
		}
	}
	return packs, unread
}

// IsLost reports whether the error of a read means that what was to be read is gone or damaged.
// Any other error of the system may pass.
func IsLost(err error) bool {
	var system syscall.Errno
	return err != nil && (errors.Is(err, os.ErrNotExist) || !errors.As(err, &system))
}

func (o *objects) close() {
	for _, p := range slices.Concat(o.own, o.user, o.gone) {
		p.close()
	}
}

// refresh reads the list of our packs anew: a prune has replaced them.
func (o *objects) refresh() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = append(o.gone, o.own...)
	o.own, o.unread = openPacks(o.dir, nil)
}

// has reports whether an object is ours already, or is now: a pack of the user's is linked.
func (o *objects) has(id ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isOwn(id) {
		return true
	}
	return slices.ContainsFunc(o.user, func(p *pack) bool { return p.has(id) && o.link(p) })
}

// isOwn reports whether the object is in the store. The objects are locked, or nobody else uses them;
// so for [objects.write] and [objects.syncPacks].
func (o *objects) isOwn(id ID) bool {
	return o.fresh[id] != nil || slices.ContainsFunc(o.own, func(p *pack) bool { return p.has(id) })
}

// looseFile returns where an object directory has an object as a file of its own.
func looseFile(dir string, id ID) string {
	name := fmt.Sprintf("%x", id[:])
	return filepath.Join(dir, name[:2], name[2:])
}

// link makes a pack of the user's ours too. The index comes last: with it the pack counts.
func (o *objects) link(p *pack) bool {
	if !o.keep {
		return true
	}
	done, known := o.linked[p.path]
	if !known {
		to := filepath.Join(o.dir, "pack", filepath.Base(p.path))
		done = linkFile(p.path+".pack", to+".pack") && linkFile(p.path+".idx", to+".idx")
		o.linked[p.path] = done
	}
	return done
}

// linkFile gives a file of the user's a name in the store. What has the name already is of no use: nothing was found in it.
func linkFile(from, to string) bool {
	err := os.Link(from, to)
	if errors.Is(err, os.ErrExist) {
		temp := filepath.Join(filepath.Dir(to), tempPrefix+filepath.Base(to))
		_ = os.Remove(temp)
		defer os.Remove(temp) // it stays if both are the same file already
		if err = os.Link(from, temp); err == nil {
			err = os.Rename(temp, to)
		}
	}
	return err == nil
}

// put makes a content ours, unless it is or is in a pack of the user's, and returns its id.
func (o *objects) put(k kind, data []byte) (id ID, err error) {
	id = hashObject(k, data)
	if o.has(id) {
		return id, nil
	}
	return id, o.add(id, encode(k, data))
}

// maxFresh is how many bytes wait to be written as one pack.
const maxFresh = 32 << 20

// add adds an object that is not ours yet.
func (o *objects) add(id ID, encoded []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fresh[id] == nil {
		o.fresh[id] = encoded
		o.size += len(encoded)
	}
	switch {
	case !o.keep || o.size <= maxFresh:
		return nil
	case o.later:
		return errTooMuch
	}
	if err := o.write(); err != nil {
		return err
	}
	return o.syncPacks() // only the last pack, which has the tree itself, may be lost
}

var errTooMuch = errors.New("too much has changed to be recorded in passing")

// write writes what was put. It is durable after [objects.syncPacks]. What is not durable yet, and stays so, is
// written again with it: it is in one pack, so that nothing that is whole after a power cut names what is lost.
func (o *objects) write() error {
	if len(o.fresh) == 0 {
		return nil
	}
	joined, since, err := o.join()
	if err != nil {
		return err
	}
	index, err := writePack(filepath.Join(o.dir, "pack"), o.fresh, o.fault)
	if err != nil {
		return err
	}
	if isUnsynced(index) {
		o.packs = append(o.packs, index)
	}
	p, err := openPack(index)
	if err != nil {
		return err
	}
	o.own = append(slices.DeleteFunc(o.own, func(p *pack) bool { return slices.Contains(joined, p) }), p)
	o.fresh, o.size = map[ID][]byte{}, 0
	_ = lockfile.Touch(index, since)
	for _, old := range joined {
		if old.unsynced != index {
			removePack(old.unsynced)
		}
	}
	o.gone = append(o.gone, joined...)
	return nil
}

// syncPacks makes what was written durable. What cannot be is removed.
func (o *objects) syncPacks() error {
	for _, index := range o.packs {
		if err := syncPack(index, o.fault); err != nil {
			for _, index := range o.packs {
				removePack(index)
			}
			return err
		}
	}
	o.packs = nil
	return nil
}

var errMissing = errors.New("an object is missing")

// read returns an object of at most largest bytes.
func (o *objects) read(id ID) (kind, []byte, error) {
	k, data, err := o.lookUp(id, 0)
	if errors.Is(err, errMissing) || errors.Is(err, os.ErrNotExist) {
		o.refresh()
		k, data, err = o.lookUp(id, 0)
	}
	return k, data, err
}

// lookUp returns an object from the first place that has it whole.
func (o *objects) lookUp(id ID, depth int) (k kind, data []byte, err error) {
	o.mu.Lock()
	encoded, packs, failed := o.fresh[id], slices.Concat(o.own, o.user), o.unread
	o.mu.Unlock()
	if encoded != nil {
		return o.readAt(bytes.NewReader(encoded), 0, depth)
	}
	if failed == nil {
		failed = fmt.Errorf("%w: %s", errMissing, id)
	}
	for _, p := range packs {
		at, ok := p.find(id)
		if !ok {
			continue
		}
		f, err := p.reader()
		if err == nil {
			if k, data, err = o.readAt(f, at, depth); err == nil {
				return k, data, nil
			}
		}
		if IsLost(failed) { // else it may be in the pack that could not be read
			failed = err
		}
	}
	for _, dir := range o.theirs {
		k, data, err := readLoose(looseFile(dir, id))
		if err == nil {
			return k, data, nil
		}
		if !errors.Is(err, os.ErrNotExist) && IsLost(failed) {
			failed = err
		}
	}
	return 0, nil, failed
}

// maxChain is the longest chain of deltas that is followed.
const maxChain = 5000

// readAt returns the object that stands at a place of a pack.
func (o *objects) readAt(f io.ReaderAt, at int64, depth int) (k kind, data []byte, err error) {
	x, err := readPacked(f, at)
	switch {
	case err != nil:
		return 0, nil, err
	case depth > maxChain:
		return 0, nil, errPack
	case x.kind == kindOfsDelta:
		k, data, err = o.readAt(f, x.base, depth+1)
	case x.kind == kindRefDelta:
		k, data, err = o.lookUp(x.ref, depth+1)
	default:
		return x.kind, x.data, nil
	}
	if err == nil {
		data, err = applyDelta(data, x.data)
	}
	return k, data, err
}

// readLoose reads an object that is a file of its own.
func readLoose(path string) (kind, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return 0, nil, err
	}
	defer z.Close()
	b, err := io.ReadAll(io.LimitReader(z, largest))
	if err != nil {
		return 0, nil, err
	}
	head, data, _ := bytes.Cut(b, []byte{0})
	name, size, _ := strings.Cut(string(head), " ")
	if k := slices.Index(kindNames[:], name); k > 0 && strconv.Itoa(len(data)) == size {
		return kind(k), data, nil
	}
	return 0, nil, errPack
}

// typed returns the content of an object that has to be of a kind.
func (o *objects) typed(id ID, want kind) ([]byte, error) {
	k, data, err := o.read(id)
	if err == nil && k != want {
		err = fmt.Errorf("the object %s is no %s", id, kindNames[want])
	}
	return data, err
}

// blob returns the content of a file. One that is not what its name says is damaged.
func (o *objects) blob(id ID) ([]byte, error) {
	data, err := o.typed(id, kindBlob)
	if err == nil && hashObject(kindBlob, data) != id {
		return nil, fmt.Errorf("%w: %s has another content", errPack, id)
	}
	return data, err
}

// tree returns the entries of a tree. The zero ID and the empty tree have none.
func (o *objects) tree(id ID) ([]entry, error) {
	if id == (ID{}) || id == emptyTree {
		return nil, nil
	}
	o.mu.Lock()
	entries, known := o.trees[id]
	o.mu.Unlock()
	if known {
		return entries, nil
	}
	data, err := o.typed(id, kindTree)
	if err == nil {
		entries, err = parseTree(data)
	}
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.trees) >= maxTrees {
		clear(o.trees)
	}
	o.trees[id] = entries
	return entries, nil
}

// maxTrees is how many trees are remembered.
const maxTrees = 10_000

// isText reports whether a content has lines that can be compared.
func isText(b []byte) bool {
	return len(b) <= maxText && bytes.IndexByte(b[:min(len(b), 8000)], 0) < 0
}

// maxText is the size above which contents are not compared line by line.
const maxText = 1 << 20

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// largest is the size above which a content is neither stored nor read.
const largest = 1 << 30

// objects are all objects that can be read: our own, and those of the user's repository.
type objects struct {
	dir     string   // our own
	theirs  []string // the object directories of the user's repository
	keep    bool     // link what is borrowed, and write what is new
	writer  *packWriter
	stored  atomic.Int64
	bytes   atomic.Int64 // of the contents that were stored
	mu      sync.Mutex
	own     []*pack
	user    []*pack
	loose   map[string]bool // directories that were read, and the files in them
	memory  map[ID]object   // what is not written
	linked  map[string]bool
	noLinks map[string]bool // packs that cannot be linked
}

// An object is a content with its kind.
type object struct {
	kind kind
	data []byte
}

func openObjects(dir string, repo *repository, fault func(string) error) *objects {
	o := &objects{dir: dir, loose: map[string]bool{}, memory: map[ID]object{}, linked: map[string]bool{}, noLinks: map[string]bool{}}
	o.writer = newPackWriter(filepath.Join(dir, "pack"), fault)
	o.own = openPacks(dir, nil)
	if repo != nil {
		o.theirs = repo.objectDirs()
		for _, dir := range o.theirs {
			o.user = openPacks(dir, o.user)
		}
	}
	return o
}

// openPacks adds the packs of an object directory.
func openPacks(dir string, packs []*pack) []*pack {
	files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "pack", "*.idx"))
	for _, idx := range files {
		if p, err := openPack(idx); err == nil {
			packs = append(packs, p)
		}
	}
	return packs
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (o *objects) close() {
	for _, p := range append(o.own, o.user...) {
		p.close()
	}
}

// refresh reads the list of our packs anew: a prune has replaced them.
func (o *objects) refresh() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.own, o.loose = openPacks(o.dir, nil), map[string]bool{}
}

// has reports whether an object is ours already, or is now: one of the user's is linked.
func (o *objects) has(id ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isOwn(id) {
		return true
	}
	for _, p := range o.user {
		if _, ok := p.find(id); ok && o.link(p) {
			return true
		}
	}
	name := id.String()
	for _, dir := range o.theirs {
		if o.isLoose(dir, name) && o.linkLoose(dir, name) {
			return true
		}
	}
	return false
}

func (o *objects) isOwn(id ID) bool {
	if _, ok := o.memory[id]; ok {
		return true
	}
	if _, ok := o.writer.added[id]; ok {
		return true
	}
	for _, p := range o.own {
		if _, ok := p.find(id); ok {
			return true
		}
	}
	return o.isLoose(o.dir, id.String())
}

// isLoose reports whether an object directory has the object as a file. Each of its
// directories is read once.
func (o *objects) isLoose(dir, name string) bool {
	sub := filepath.Join(dir, name[:2])
	if !o.loose[sub] {
		o.loose[sub] = true
		files, _ := os.ReadDir(sub)
		for _, f := range files {
			o.loose[filepath.Join(sub, f.Name())] = true
		}
	}
	return o.loose[filepath.Join(sub, name[2:])]
}

// link makes a pack of the user's ours too.
func (o *objects) link(p *pack) bool {
	if !o.keep || o.linked[p.path] {
		return !o.noLinks[p.path]
	}
	o.linked[p.path] = true
	to := filepath.Join(o.dir, "pack", filepath.Base(p.path))
	for _, ext := range []string{".pack", ".idx"} { // the index last: with it the pack counts
		if err := os.Link(p.path+ext, to+ext); err != nil && !errors.Is(err, os.ErrExist) {
			o.noLinks[p.path] = true
			return false
		}
	}
	return true
}

func (o *objects) linkLoose(dir, name string) bool {
	if !o.keep {
		return true
	}
	to := filepath.Join(o.dir, name[:2])
	if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return false
	}
	err := os.Link(filepath.Join(dir, name[:2], name[2:]), filepath.Join(to, name[2:]))
	if err != nil && !errors.Is(err, os.ErrExist) {
		return false
	}
	o.loose[filepath.Join(to, name[2:])] = true
	return true
}

// put makes a content ours, and returns its id.
func (o *objects) put(k kind, data []byte) (ID, error) {
	id := hashObject(k, data)
	if o.has(id) {
		return id, nil
	}
	if !o.keep {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.memory[id] = object{k, data}
		return id, nil
	}
	encoded := encode(k, data)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stored.Add(1)
	o.bytes.Add(int64(len(data)))
	return id, o.writer.add(id, encoded)
}

// flush makes what was put durable.
func (o *objects) flush() error {
	path, err := o.writer.finish()
	if err != nil || path == "" {
		return err
	}
	o.writer.added = make(map[ID]packed)
	p, err := openPack(path + ".idx")
	if err == nil {
		o.mu.Lock()
		o.own = append(o.own, p)
		o.mu.Unlock()
	}
	return err
}

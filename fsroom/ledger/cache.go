package ledger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

const cacheMagic = "tt-stat-2\n"

// writeCache writes what the scan found: for each directory the number of its files, and each
// file, followed by what is in it if it is a directory.
func writeCache(path string, top *directory, files int) error {
	const each = 120 // bytes, about
	b := append(append(make([]byte, 0, each*(files+8)), cacheMagic...), top.id[:]...)
	var add func(*directory)
	add = func(d *directory) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d.files)))
		for i := range d.files {
			f := &d.files[i]
			b = binary.LittleEndian.AppendUint16(b, uint16(len(f.name)))
			b = append(b, f.name...)
			b = binary.LittleEndian.AppendUint32(b, f.mode)
			b = binary.LittleEndian.AppendUint32(b, f.perm)
			for _, n := range []uint64{f.inode, uint64(f.size), uint64(f.mtime), uint64(f.ctime)} {
				b = binary.LittleEndian.AppendUint64(b, n)
			}
			b = append(b, f.id[:]...)
			b = append(b, 0)
			if f.again {
				b[len(b)-1] = 1
			}
			if f.sub != nil {
				add(f.sub)
			}
		}
	}
	add(top)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return lockfile.ReplaceUnsynced(path, b, filepath.Dir(path))
}

// readCache returns what the last scan found, nil if that is lost or damaged: then every file is read once.
func readCache(path string) *directory {
	b, err := lockfile.ReadRegular(path, 1<<30)
	n := len(b) - 4
	if err != nil || n < len(cacheMagic) || string(b[:len(cacheMagic)]) != cacheMagic ||
		crc32.ChecksumIEEE(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return nil
	}
	r := cacheReader{b: b[len(cacheMagic):n]}
	top := &directory{id: ID(r.bytes(len(ID{})))}
	r.directory(top)
	if r.bad {
		return nil
	}
	return top
}

// scanFiles changes what the last scan found to what some files, given with their whole paths, are now. It reports false if
// a whole scan has to tell: one is not known, or is something else by now.
func (s *scanner) scanFiles(top *directory, files []string) bool {
	s.started = time.Now().UnixNano()
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return false
	}
	defer root.Close()
	for _, path := range files {
		rel, err := filepath.Rel(s.root, path)
		if err != nil || !s.scanFile(root, top, filepath.ToSlash(rel)) {
			return false
		}
	}
	return true
}

// scanFile is scanFiles for the file at a path below a directory.
func (s *scanner) scanFile(root *os.Root, d *directory, path string) bool {
	name, below, deeper := strings.Cut(path, "/")
	f := d.find(name, deeper)
	now, err := linkStat(filepath.Join(s.root, filepath.FromSlash(d.prefix()+name)))
	switch {
	case f == nil && errors.Is(err, fs.ErrNotExist) || f != nil && !f.again && f.stat == now && !deeper:
		return true
	case f == nil || err != nil || isRegular(f.mode) != isRegular(now.mode):
		return false
	case deeper:
		if now.mode != modeDir || !s.scanFile(root, f.sub, below) {
			return false
		}
		f.id = f.sub.id
	default:
		changed := *f
		changed.stat = now
		if s.read(root, &reading{d, &changed, f, false}) != nil || len(s.left) > 0 || !isRegular(changed.mode) {
			return false
		}
		*f = changed
		s.count++
	}
	return s.put(d) == nil
}

// A cacheReader reads values one after the other.
type cacheReader struct {
	b   []byte
	bad bool
}

func (r *cacheReader) bytes(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *cacheReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *cacheReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

func (r *cacheReader) directory(d *directory) {
	n := int(r.uint32())
	const least = 64 // bytes of a file
	if n > len(r.b)/least {
		r.bad = true
		return
	}
	d.files = make([]file, n)
	for i := range d.files {
		f := &d.files[i]
		f.name = string(r.bytes(int(binary.LittleEndian.Uint16(r.bytes(2)))))
		f.mode, f.perm = r.uint32(), r.uint32()
		f.inode, f.size, f.mtime, f.ctime = r.uint64(), int64(r.uint64()), int64(r.uint64()), int64(r.uint64())
		f.id = ID(r.bytes(len(f.id)))
		f.again = r.bytes(1)[0] != 0
		if f.mode == modeDir && !r.bad {
			f.sub = &directory{path: d.prefix() + f.name, id: f.id}
			r.directory(f.sub)
		}
	}
}

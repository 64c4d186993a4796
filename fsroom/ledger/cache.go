package ledger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// readCache returns what the last scan found, nil if that is lost or damaged: then every file
// is read once.
func readCache(path string) *directory {
	b, err := os.ReadFile(path)
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

// HasFiles reports whether each of some files, given with their whole paths, is in the last snapshot as it stands, or is not
// there. It looks at nothing else: where it cannot tell, it is false.
func (l *Ledger) HasFiles(paths []string) bool {
	if len(paths) == 0 {
		return false
	}
	all, err := l.linesFrom(func(s *Snapshot) bool { return !s.isLast() })
	top, n := readCache(l.cacheFile()), len(all)-1
	if err != nil || n < 0 || top == nil || all[n].Boot != l.opts.Boot || all[n].Scan != top.id || all[n].Tree != top.id {
		return false // a power cut may have taken it, or it is not as the scan found the tree
	}
	return !slices.ContainsFunc(paths, func(path string) bool {
		rel, err := filepath.Rel(l.opts.Root, path)
		now, gone := linkStat(path)
		f := top.at(filepath.ToSlash(rel))
		return err != nil || !errors.Is(gone, fs.ErrNotExist) && (f == nil || f.again || f.stat != now)
	})
}

// at returns what the scan found at a path below the directory, nil for nothing and for a directory.
func (d *directory) at(path string) *file {
	name, below, deeper := strings.Cut(path, "/")
	want := &file{name: name}
	if deeper {
		want.mode = modeDir
	}
	f := d.find(want, new(int))
	if f != nil && deeper {
		return f.sub.at(below)
	}
	return f
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

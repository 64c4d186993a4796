package ledger

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/lockfile"
)

// A cachedDir is one directory as it was when it was scanned last.
type cachedDir struct {
	id      ID
	subdirs int
	files   []file // sorted by name
}

// find returns the file with the name, nil if there is none. at is where to look first.
func (d *cachedDir) find(name string, at *int) *file {
	for *at < len(d.files) && d.files[*at].name < name {
		*at++
	}
	if *at < len(d.files) && d.files[*at].name == name {
		return &d.files[*at]
	}
	return nil
}

const cacheMagic = "tt-stat-1\n"

// writeCache writes what the scan found.
func writeCache(path string, top *directory) error {
	b := []byte(cacheMagic)
	var add func(*directory)
	add = func(d *directory) {
		b = appendText(b, d.path)
		b = append(b, d.id[:]...)
		n := 0
		for i := range d.files {
			if d.files[i].sub == nil {
				n++
			}
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = binary.LittleEndian.AppendUint32(b, uint32(d.subdirs))
		for i := range d.files {
			f := &d.files[i]
			if f.sub != nil {
				continue
			}
			b = appendText(b, f.name)
			b = binary.LittleEndian.AppendUint32(b, f.mode)
			b = binary.LittleEndian.AppendUint32(b, f.perm)
			b = binary.LittleEndian.AppendUint64(b, f.inode)
			b = binary.LittleEndian.AppendUint64(b, uint64(f.size))
			b = binary.LittleEndian.AppendUint64(b, uint64(f.mtime))
			b = binary.LittleEndian.AppendUint64(b, uint64(f.ctime))
			b = append(b, f.id[:]...)
			if f.again {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
		for i := range d.files {
			if sub := d.files[i].sub; sub != nil {
				add(sub)
			}
		}
	}
	add(top)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return lockfile.ReplaceUnsynced(path, b, filepath.Dir(path))
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(s))), s...)
}

// readCache returns what the last scan found, nothing if that is lost or damaged: then every
// file is read once.
func readCache(path string) map[string]*cachedDir {
	b, err := os.ReadFile(path)
	n := len(b) - 4
	if err != nil || n < len(cacheMagic) || string(b[:len(cacheMagic)]) != cacheMagic || crc32.ChecksumIEEE(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return map[string]*cachedDir{}
	}
	r := cacheReader{b: b[:n], at: len(cacheMagic), text: string(b[:n])}
	dirs := make(map[string]*cachedDir)
	for r.at < n {
		path, d := r.dir()
		if r.bad {
			return map[string]*cachedDir{}
		}
		dirs[path] = d
	}
	return dirs
}

// A cacheReader reads values one after the other.
type cacheReader struct {
	b    []byte
	text string // of b
	at   int
	bad  bool
}

func (r *cacheReader) bytes(n int) []byte {
	if r.bad || n > len(r.b)-r.at {
		r.bad = true
		return make([]byte, n)
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *cacheReader) name() string {
	n := int(binary.LittleEndian.Uint16(r.bytes(2)))
	if r.bytes(n); r.bad {
		return ""
	}
	return r.text[r.at-n : r.at]
}

func (r *cacheReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *cacheReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

func (r *cacheReader) dir() (string, *cachedDir) {
	path := r.name()
	d := &cachedDir{}
	copy(d.id[:], r.bytes(len(d.id)))
	n := int(r.uint32())
	d.subdirs = int(r.uint32())
	const least = 63 // bytes of a file
	if r.bad || n > (len(r.b)-r.at)/least {
		r.bad = true
		return "", nil
	}
	d.files = make([]file, n)
	for i := range d.files {
		f := &d.files[i]
		f.name = r.name()
		f.mode, f.perm = r.uint32(), r.uint32()
		f.inode, f.size, f.mtime, f.ctime = r.uint64(), int64(r.uint64()), int64(r.uint64()), int64(r.uint64())
		copy(f.id[:], r.bytes(len(f.id)))
		f.again = r.bytes(1)[0] != 0
	}
	return path, d
}

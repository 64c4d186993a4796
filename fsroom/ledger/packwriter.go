package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"
)

// tempPrefix begins the name of each file that is not finished. Only a killed process leaves
// one.
const tempPrefix = "tmp-"

// A packWriter writes one new pack of whole objects.
type packWriter struct {
	dir   string // of packs
	fault func(string) error
	file  *os.File
	size  int64
	added map[ID]packed
}

// A packed is where an object is in the new pack.
type packed struct {
	at  int64
	crc uint32
}

func newPackWriter(dir string, fault func(string) error) *packWriter {
	return &packWriter{dir: dir, fault: fault, added: make(map[ID]packed)}
}

var deflaters = sync.Pool{New: func() any { w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed); return w }}

// encode returns an object as it stands in a pack.
func encode(k kind, data []byte) []byte {
	var b bytes.Buffer
	n := len(data)
	c := byte(k)<<4 | byte(n&15)
	for n >>= 4; n > 0; n >>= 7 {
		b.WriteByte(c | 0x80)
		c = byte(n & 0x7f)
	}
	b.WriteByte(c)
	w := deflaters.Get().(*zlib.Writer)
	w.Reset(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	deflaters.Put(w)
	return b.Bytes()
}

// add writes an object that was encoded.
func (w *packWriter) add(id ID, encoded []byte) error {
	if _, ok := w.added[id]; ok {
		return nil
	}
	if w.file == nil {
		if err := w.fault("pack"); err != nil {
			return err
		}
		f, err := os.CreateTemp(w.dir, tempPrefix+"pack-*")
		if err != nil {
			return err
		}
		w.file, w.size = f, 12
	}
	if _, err := w.file.WriteAt(encoded, w.size); err != nil {
		return err
	}
	w.added[id] = packed{w.size, crc32.ChecksumIEEE(encoded)}
	w.size += int64(len(encoded))
	return nil
}

// read returns an object that was added.
func (w *packWriter) read(at int64) (kind, []byte, error) {
	p := &pack{file: w.file}
	p.open.Do(func() {})
	h, err := p.header(at)
	if err != nil {
		return 0, nil, err
	}
	data, err := p.inflate(h, largest)
	return h.kind, data, err
}

// abandon removes what was written.
func (w *packWriter) abandon() {
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
		w.file, w.added = nil, make(map[ID]packed)
	}
}

// finish makes the objects durable as one pack, and returns its path without extension, "" if
// there are none. The index gets its name last: with it the pack counts.
func (w *packWriter) finish() (path string, err error) {
	if w.file == nil {
		return "", nil
	}
	temp := w.file.Name()
	defer func() {
		w.file.Close()
		os.Remove(temp)
		os.Remove(temp + ".idx")
		w.file = nil
	}()
	sum, err := w.seal()
	if err != nil {
		return "", err
	}
	if err := writeSynced(temp+".idx", w.index(sum)); err != nil {
		return "", err
	}
	path = filepath.Join(w.dir, "pack-"+hex.EncodeToString(sum))
	if err := w.fault("pack-name"); err != nil {
		return "", err
	}
	if err := os.WriteFile(path+".own", nil, 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(temp, path+".pack"); err != nil {
		return "", err
	}
	if err := w.fault("pack-index"); err != nil {
		return "", err
	}
	return path, os.Rename(temp+".idx", path+".idx")
}

// seal completes the file and syncs it.
func (w *packWriter) seal() (sum []byte, err error) {
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(w.added)))
	if _, err := w.file.WriteAt(head, 0); err != nil {
		return nil, err
	}
	h := sha1.New()
	if _, err := io.Copy(h, bufio.NewReaderSize(io.NewSectionReader(w.file, 0, w.size), 1<<18)); err != nil {
		return nil, err
	}
	sum = h.Sum(nil)
	if _, err := w.file.WriteAt(sum, w.size); err != nil {
		return nil, err
	}
	if err := w.fault("pack-sync"); err != nil {
		return nil, err
	}
	return sum, w.file.Sync()
}

// index returns the content of the pack's index.
func (w *packWriter) index(packSum []byte) []byte {
	ids := make([]ID, 0, len(w.added))
	for id := range w.added {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return bytes.Compare(ids[i][:], ids[j][:]) < 0 })
	b := []byte(idxMagic)
	k := 0
	for i := range 256 {
		for k < len(ids) && int(ids[k][0]) <= i {
			k++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(k))
	}
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	for _, id := range ids {
		b = binary.BigEndian.AppendUint32(b, w.added[id].crc)
	}
	var far []byte
	for _, id := range ids {
		at := w.added[id].at
		if at >= 1<<31 {
			b = binary.BigEndian.AppendUint32(b, 1<<31|uint32(len(far)/8))
			far = binary.BigEndian.AppendUint64(far, uint64(at))
		} else {
			b = binary.BigEndian.AppendUint32(b, uint32(at))
		}
	}
	b = append(append(b, far...), packSum...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// writeSynced writes a new file and syncs it.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return cmp.Or(err, f.Sync(), f.Close())
}

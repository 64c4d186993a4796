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
	"slices"
	"sort"
	"sync"

	"github.com/talking-stick/tt/lockfile"
)

const (
	// tempPrefix begins the name of each file that is not finished. Only a killed process
	// leaves one.
	tempPrefix = "tmp-"
	// ownPrefix begins the name of each pack that is no link to one of the user's.
	ownPrefix = "tt-"
)

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

// writePack makes objects that were encoded durable as one pack, and returns its index. That
// gets its name last: with it the pack counts.
func writePack(dir string, objects map[ID][]byte, fault func(string) error) (index string, err error) {
	if err := fault("pack"); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, tempPrefix+"pack-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	sum, content, err := packContent(f, objects)
	if err := cmp.Or(err, fault("pack-sync")); err != nil {
		return "", err
	}
	if err := cmp.Or(f.Sync(), fault("pack-name")); err != nil {
		return "", err
	}
	path := filepath.Join(dir, ownPrefix+sum)
	if err := cmp.Or(os.Rename(f.Name(), path+".pack"), fault("pack-index")); err != nil {
		return "", err
	}
	return path + ".idx", lockfile.Replace(path+".idx", content, dir)
}

// packContent writes a pack, and returns its sum and its index.
func packContent(w io.Writer, objects map[ID][]byte) (sum string, index []byte, err error) {
	ids := make([]ID, 0, len(objects))
	for id := range objects {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return bytes.Compare(ids[i][:], ids[j][:]) < 0 })
	h := sha1.New()
	to := bufio.NewWriterSize(io.MultiWriter(w, h), 1<<16)
	at, _ := to.Write(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(ids))))
	var fan [256]uint32
	var names, sums, places []byte
	for _, id := range ids {
		for i := int(id[0]); i < len(fan); i++ {
			fan[i]++
		}
		names = append(names, id[:]...)
		sums = binary.BigEndian.AppendUint32(sums, crc32.ChecksumIEEE(objects[id]))
		places = binary.BigEndian.AppendUint32(places, uint32(at))
		n, _ := to.Write(objects[id])
		at += n
	}
	if err := to.Flush(); err != nil {
		return "", nil, err
	}
	digest := h.Sum(nil)
	if _, err := w.Write(digest); err != nil {
		return "", nil, err
	}
	b := []byte(idxMagic)
	for _, n := range fan {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = slices.Concat(b, names, sums, places, digest)
	idxSum := sha1.Sum(b)
	return hex.EncodeToString(digest), append(b, idxSum[:]...), nil
}

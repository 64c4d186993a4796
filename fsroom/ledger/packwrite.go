package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

const (
	// tempPrefix begins the name of each file that is not finished. Only a killed process leaves one.
	tempPrefix = "tmp-"
	// ownPrefix begins the name of each pack that is no link to one of the user's.
	ownPrefix = "tt-"
	// unsyncedPrefix begins the name of the index of a pack that may be lost in a power cut.
	unsyncedPrefix = "new-"
)

var deflaters = sync.Pool{New: func() any { w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed); return w }}

// encode returns an object as it stands in a pack.
func encode(k kind, data []byte) []byte {
	n := len(data)
	b := bytes.NewBuffer([]byte{byte(k)<<4 | byte(n&15)})
	if n >>= 4; n > 0 {
		b.Bytes()[0] |= 0x80
		b.Write(binary.AppendUvarint(nil, uint64(n)))
	}
	w := deflaters.Get().(*zlib.Writer)
	w.Reset(b)
	_, _ = w.Write(data)
	_ = w.Close()
	deflaters.Put(w)
	return b.Bytes()
}

// writePack writes objects that were encoded as one pack, and returns its index. The name of the
// index says that nothing is durable yet.
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
	if err := cmp.Or(err, fault("pack-name")); err != nil {
		return "", err
	}
	name := ownPrefix + sum
	done := filepath.Join(dir, name+".idx")
	if whole, _ := looksWhole(done); whole {
		return done, nil // the same objects have the same name, and are durable
	}
	if err := cmp.Or(os.Rename(f.Name(), filepath.Join(dir, name+".pack")), fault("pack-index")); err != nil {
		return "", err
	}
	lockfile.Adopt(filepath.Join(dir, name+".pack"))
	index = filepath.Join(dir, unsyncedPrefix+name+".idx")
	return index, lockfile.ReplaceUnsynced(index, content, dir)
}

// join adds to what is to be written what stands in packs that are not durable, unless this process makes all durable. It
// returns them, and when the first of them was written.
func (o *objects) join() (joined []*pack, since time.Time, err error) {
	since = time.Now()
	for _, p := range o.own {
		if !o.later || p.unsynced == "" {
			continue
		}
		info, err := os.Stat(p.unsynced)
		if err != nil {
			return nil, since, err
		}
		if joined = append(joined, p); info.ModTime().Before(since) {
			since = info.ModTime()
		}
		b, err := os.ReadFile(p.path + ".pack")
		if err != nil {
			return nil, since, err
		}
		end := len(b) - sha1.Size
		for i := range p.n { // they stand in the order of their ids
			id := p.id(p.n - 1 - i)
			at, ok := p.find(id)
			if !ok || at < 0 || int(at) > end {
				return nil, since, errPack
			}
			o.fresh[id], end = b[at:end], int(at)
		}
	}
	return joined, since, nil
}

// syncPack makes a pack durable. Its index gets the name by which git knows it.
func syncPack(index string, fault func(string) error) error {
	pack := packOf(index)
	if err := cmp.Or(fault("pack-sync"), syncFile(pack+".pack"), syncFile(index), fault("pack-synced")); err != nil {
		return err
	}
	return os.Rename(index, pack+".idx")
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return cmp.Or(f.Sync(), f.Close())
}

// isUnsynced reports whether the index is that of a pack that is not durable yet.
func isUnsynced(index string) bool { return strings.HasPrefix(filepath.Base(index), unsyncedPrefix) }

// packOf returns the path of a pack without its extension.
func packOf(index string) string {
	dir, name := filepath.Split(strings.TrimSuffix(index, ".idx"))
	return dir + strings.TrimPrefix(name, unsyncedPrefix)
}

// removePack removes a pack of our own.
func removePack(index string) {
	for _, path := range []string{index, packOf(index) + ".idx", packOf(index) + ".pack"} {
		_ = os.Remove(path)
	}
}

// looksWhole reports whether a pack and its index are as they were written. It is an error if the two cannot be
// read although they are there.
func looksWhole(index string) (bool, error) {
	pack, err := os.ReadFile(packOf(index) + ".pack")
	idx, err2 := os.ReadFile(index)
	const sum = sha1.Size
	if err := cmp.Or(err, err2); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if len(pack) < sum || len(idx) < 2*sum {
		return false, nil
	}
	end, idxEnd := pack[len(pack)-sum:], idx[len(idx)-sum:]
	return sha1.Sum(pack[:len(pack)-sum]) == [sum]byte(end) && sha1.Sum(idx[:len(idx)-sum]) == [sum]byte(idxEnd) &&
		bytes.HasSuffix(idx[:len(idx)-sum], end), nil
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

package ledger

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	idxHeader = 8
	idxFan    = 256 * 4
	idxMagic  = "\xfftOc\x00\x00\x00\x02"
)

// A pack is a file of objects of git with its index.
type pack struct {
	path     string // without the extension
	index    []byte
	n        int
	unsynced string // its index, where it may be lost in a power cut; else ""

	open sync.Once
	file *os.File
	err  error
}

var errPack = errors.New("a pack is damaged")

// openPack opens the index of a pack, which may be read without its pack.
func openPack(idx string) (*pack, error) {
	b, err := readIdx(idx)
	if err != nil {
		return nil, err
	}
	p := &pack{path: packOf(idx), index: b}
	if isUnsynced(idx) {
		p.unsynced = idx
	}
	if len(b) < idxHeader+idxFan+40 || string(b[:idxHeader]) != idxMagic {
		return nil, fmt.Errorf("%s: %w", idx, errPack)
	}
	p.n = p.fan(255)
	if p.n < 0 || len(b) < idxHeader+idxFan+28*p.n+40 {
		return nil, fmt.Errorf("%s: %w", idx, errPack)
	}
	return p, nil
}

// fan returns how many objects have an id whose first byte is at most i.
func (p *pack) fan(i int) int { return int(binary.BigEndian.Uint32(p.index[idxHeader+4*i:])) }

// id returns the id of an object by its number.
func (p *pack) id(i int) ID { return ID(p.index[idxHeader+idxFan+20*i:][:20]) }

// find returns where an object begins in the pack.
func (p *pack) find(id ID) (at int64, ok bool) {
	low := 0
	if id[0] > 0 {
		low = p.fan(int(id[0]) - 1)
	}
	high := p.fan(int(id[0]))
	if low > high || high > p.n {
		return 0, false
	}
	names := p.index[idxHeader+idxFan:]
	i := low + sort.Search(high-low, func(i int) bool { return bytes.Compare(names[20*(low+i):][:20], id[:]) >= 0 })
	if i == high || p.id(i) != id {
		return 0, false
	}
	offsets := p.index[idxHeader+idxFan+24*p.n : len(p.index)-40]
	near := binary.BigEndian.Uint32(offsets[4*i:])
	if near>>31 == 0 {
		return int64(near), true
	}
	far := 4*p.n + 8*int(near&^(1<<31))
	if far+8 > len(offsets) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(offsets[far:])), true
}

func (p *pack) has(id ID) bool {
	_, ok := p.find(id)
	return ok
}

func (p *pack) reader() (*os.File, error) {
	p.open.Do(func() { p.file, p.err = os.Open(p.path + ".pack") })
	return p.file, p.err
}

func (p *pack) close() {
	p.open.Do(func() { p.err = os.ErrClosed })
	if p.file != nil {
		p.file.Close()
	}
	_ = unix.Munmap(p.index)
	p.index = nil
}

// A packed is what stands at one place of a pack: an object, or how it differs from another.
type packed struct {
	kind kind
	data []byte
	base int64 // where the other object is, of kindOfsDelta
	ref  ID    // of kindRefDelta
}

func readPacked(f io.ReaderAt, at int64) (x packed, err error) {
	r := bufio.NewReader(io.NewSectionReader(f, at, 1<<62))
	c, err := r.ReadByte()
	size := uint64(c & 15)
	x.kind = kind(c >> 4 & 7)
	if c&0x80 != 0 {
		var rest uint64
		rest, err = binary.ReadUvarint(r)
		size |= rest << 4
	}
	switch x.kind {
	case kindOfsDelta:
		back := int64(-1)
		for c = 0x80; c&0x80 != 0 && err == nil; {
			c, err = r.ReadByte()
			back = (back+1)<<7 | int64(c&0x7f)
		}
		if x.base = at - back; back <= 0 || x.base <= 0 {
			return x, errPack
		}
	case kindRefDelta:
		_, err = io.ReadFull(r, x.ref[:])
	}
	if err == nil {
		x.data, err = inflate(r, size)
	}
	return x, err
}

// largest is the size above which a content is neither stored nor read.
const largest = 1 << 30

var errTooLarge = errors.New("an object is too large to be read at once")

var inflaters sync.Pool // of readers that were used

func inflate(r io.Reader, size uint64) (data []byte, err error) {
	if size > largest {
		return nil, errTooLarge
	}
	z, _ := inflaters.Get().(io.ReadCloser)
	if z == nil {
		z, err = zlib.NewReader(r)
	} else {
		err = z.(zlib.Resetter).Reset(r, nil)
	}
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(z)
	var b bytes.Buffer
	b.Grow(int(min(size, maxText)) + bytes.MinRead) // the size may be damaged
	if _, err := b.ReadFrom(io.LimitReader(z, int64(size)+1)); err != nil {
		return nil, err
	}
	if uint64(b.Len()) != size {
		return nil, errPack
	}
	return b.Bytes(), nil
}

// applyDelta makes an object of its base.
func applyDelta(base, delta []byte) ([]byte, error) {
	size := func() uint64 {
		v, n := binary.Uvarint(delta)
		delta = delta[max(n, 0):]
		return v
	}
	if size() != uint64(len(base)) {
		return nil, errPack
	}
	want := size()
	if want > largest {
		return nil, errTooLarge
	}
	out := make([]byte, 0, min(want, maxText))
	for len(delta) > 0 {
		c := delta[0]
		delta = delta[1:]
		if c&0x80 == 0 {
			n := int(c)
			if n == 0 || n > len(delta) {
				return nil, errPack
			}
			out, delta = append(out, delta[:n]...), delta[n:]
			continue
		}
		var v [7]int
		for i := range v {
			if c&(1<<i) != 0 {
				if len(delta) == 0 {
					return nil, errPack
				}
				v[i], delta = int(delta[0]), delta[1:]
			}
		}
		from, n := v[0]|v[1]<<8|v[2]<<16|v[3]<<24, v[4]|v[5]<<8|v[6]<<16
		if n == 0 {
			n = 0x10000
		}
		if from+n > len(base) {
			return nil, errPack
		}
		out = append(out, base[from:from+n]...)
	}
	if uint64(len(out)) != want {
		return nil, errPack
	}
	return out, nil
}

package ledger

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"
)

const (
	idxHeader = 8
	idxFan    = 256 * 4
	idxMagic  = "\xfftOc\x00\x00\x00\x02"
)

// A pack is a file of objects of git with its index.
type pack struct {
	path  string // without the extension
	index []byte
	n     int

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
	p := &pack{path: strings.TrimSuffix(idx, ".idx"), index: b}
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

func (p *pack) id(i int) ID { return ID(p.index[idxHeader+idxFan+20*i:][:20]) }

// find returns the number of the object in the pack.
func (p *pack) find(id ID) (int, bool) {
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
	return i, i < high && ID(names[20*i:][:20]) == id
}

// offset returns where the object begins.
func (p *pack) offset(i int) (int64, error) {
	at := idxHeader + idxFan + 24*p.n + 4*i
	off := binary.BigEndian.Uint32(p.index[at:])
	if off>>31 == 0 {
		return int64(off), nil
	}
	at = idxHeader + idxFan + 28*p.n + 8*int(off&^(1<<31))
	if at+8 > len(p.index)-40 {
		return 0, errPack
	}
	return int64(binary.BigEndian.Uint64(p.index[at:])), nil
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
}

// A header is what stands before the compressed bytes of an object in a pack.
type header struct {
	kind kind
	size int64
	data int64 // where the compressed bytes begin
	base int64 // of kindOfsDelta
	ref  ID    // of kindRefDelta
}

func (p *pack) header(at int64) (h header, err error) {
	f, err := p.reader()
	if err != nil {
		return h, err
	}
	var buf [64]byte
	n, err := f.ReadAt(buf[:], at)
	if err != nil && err != io.EOF {
		return h, err
	}
	b, k := buf[:n], 0
	next := func() (c byte) {
		if k < len(b) {
			c = b[k]
		}
		k++
		return c
	}
	c := next()
	h.kind, h.size = kind(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0 && shift < 60; shift += 7 {
		c = next()
		h.size |= int64(c&0x7f) << shift
	}
	switch h.kind {
	case kindOfsDelta:
		c = next()
		back := int64(c & 0x7f)
		for c&0x80 != 0 && k < len(b) {
			c = next()
			back = (back+1)<<7 | int64(c&0x7f)
		}
		h.base = at - back
		if back <= 0 || h.base <= 0 {
			return h, errPack
		}
	case kindRefDelta:
		k += copy(h.ref[:], b[min(k, len(b)):])
	}
	if k > len(b) {
		return h, errPack
	}
	h.data = at + int64(k)
	return h, nil
}

// inflate reads the compressed bytes of an object.
func (p *pack) inflate(h header, most int64) ([]byte, error) {
	if h.size > most {
		return nil, errTooLarge
	}
	return inflate(io.NewSectionReader(p.file, h.data, 1<<62), h.size)
}

var errTooLarge = errors.New("an object is too large to be read at once")

func inflate(r io.Reader, size int64) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(z, data); err != nil {
		return nil, err
	}
	var one [1]byte
	if n, err := io.ReadFull(z, one[:]); n != 0 || err != io.EOF {
		return nil, errPack
	}
	return data, nil
}

// maxChain is the longest chain of deltas that is followed.
const maxChain = 5000

// read returns the object at an offset. other finds the bases that are named by id.
func (p *pack) read(at, most int64, other func(ID) (kind, []byte, error)) (k kind, data []byte, err error) {
	var deltas [][]byte
	for {
		h, err := p.header(at)
		if err != nil {
			return 0, nil, err
		}
		b, err := p.inflate(h, most)
		if err != nil {
			return 0, nil, err
		}
		if h.kind == kindOfsDelta || h.kind == kindRefDelta {
			if len(deltas) > maxChain {
				return 0, nil, errPack
			}
			deltas = append(deltas, b)
		}
		if h.kind == kindOfsDelta {
			at = h.base
			continue
		}
		k, data = h.kind, b
		if h.kind == kindRefDelta {
			if k, data, err = other(h.ref); err != nil {
				return 0, nil, err
			}
		}
		break
	}
	for i := len(deltas) - 1; i >= 0; i-- {
		if data, err = applyDelta(data, deltas[i], most); err != nil {
			return 0, nil, err
		}
	}
	return k, data, nil
}

// applyDelta makes an object of its base.
func applyDelta(base, delta []byte, most int64) ([]byte, error) {
	size := func() int64 {
		v, n := binary.Uvarint(delta)
		if n <= 0 || v > 1<<40 {
			delta = nil
			return -1
		}
		delta = delta[n:]
		return int64(v)
	}
	if size() != int64(len(base)) {
		return nil, errPack
	}
	want := size()
	if want < 0 {
		return nil, errPack
	}
	if want > most {
		return nil, errTooLarge
	}
	out := make([]byte, 0, want)
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
	if int64(len(out)) != want {
		return nil, errPack
	}
	return out, nil
}

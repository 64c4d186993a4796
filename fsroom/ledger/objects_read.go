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
	"strconv"
	"strings"
)

// A missingError means that no repository has an object.
type missingError struct{ id ID }

func (e *missingError) Error() string { return fmt.Sprintf("the object %s is missing", e.id) }

// read returns an object of at most largest bytes.
func (o *objects) read(id ID) (kind, []byte, error) {
	k, data, err := o.lookUp(id, 0)
	if missing := (*missingError)(nil); errors.As(err, &missing) || errors.Is(err, os.ErrNotExist) {
		o.refresh()
		k, data, err = o.lookUp(id, 0)
	}
	return k, data, err
}

func (o *objects) lookUp(id ID, depth int) (kind, []byte, error) {
	switch {
	case id == (ID{}):
		return 0, nil, &missingError{id}
	case depth > 64:
		return 0, nil, errPack
	}
	o.mu.Lock()
	if m, ok := o.memory[id]; ok {
		o.mu.Unlock()
		return m.kind, m.data, nil
	}
	if at, ok := o.writer.added[id]; ok {
		defer o.mu.Unlock()
		return o.writer.read(at.at)
	}
	packs := append(append([]*pack(nil), o.own...), o.user...)
	o.mu.Unlock()
	var failed error
	for _, p := range packs {
		i, ok := p.find(id)
		if !ok {
			continue
		}
		at, err := p.offset(i)
		if err == nil {
			var k kind
			var data []byte
			k, data, err = p.read(at, largest, func(id ID) (kind, []byte, error) { return o.lookUp(id, depth+1) })
			if err == nil {
				return k, data, nil
			}
		}
		failed = err
	}
	name := id.String()
	for _, dir := range append([]string{o.dir}, o.theirs...) {
		k, data, err := readLoose(filepath.Join(dir, name[:2], name[2:]))
		if err == nil {
			return k, data, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			failed = err
		}
	}
	if failed != nil {
		return 0, nil, failed
	}
	return 0, nil, &missingError{id}
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
	r := bufio.NewReader(z)
	head, err := r.ReadString(0)
	if err != nil {
		return 0, nil, err
	}
	name, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil || size < 0 || size > largest {
		return 0, nil, errTooLarge
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return 0, nil, err
	}
	for k, n := range kindNames {
		if n == name && name != "" {
			return kind(k), data, nil
		}
	}
	return 0, nil, errPack
}

// blob returns the content of a file.
func (o *objects) blob(id ID) ([]byte, error) {
	k, data, err := o.read(id)
	if err == nil && k != kindBlob {
		err = fmt.Errorf("the object %s is no file", id)
	}
	return data, err
}

// tree returns the entries of a tree. The zero ID and the empty tree have none.
func (o *objects) tree(id ID) ([]entry, error) {
	if id == (ID{}) || id == emptyTree {
		return nil, nil
	}
	k, data, err := o.read(id)
	if err != nil {
		return nil, err
	}
	if k != kindTree {
		return nil, fmt.Errorf("the object %s is no tree", id)
	}
	return parseTree(data)
}

// isText reports whether a content has lines that can be compared.
func isText(b []byte) bool {
	return len(b) <= maxText && bytes.IndexByte(b[:min(len(b), 8000)], 0) < 0
}

// maxText is the size above which contents are not compared line by line.
const maxText = 1 << 20

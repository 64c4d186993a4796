package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// carry makes a file what it was in the last scan, or nothing if it was not there.
func (r *reading) carry() {
	if r.old == nil {
		r.file.mode = 0
		return
	}
	*r.file = *r.old
	r.file.again = true
}

// readAll reads the contents of what has changed.
func (s *scanner) readAll() error {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return err
	}
	defer root.Close()
	var next atomic.Int64
	var wg sync.WaitGroup
	const each = 8 // files are worth another reader, which needs a megabyte to compress them
	for range min(walkers, (len(s.reads)+each-1)/each) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(s.reads)) && s.ctx.Err() == nil; i = next.Add(1) - 1 {
				s.fail(Safely(func() error { return s.read(root, &s.reads[i]) }))
			}
		})
	}
	wg.Wait()
	s.fail(s.ctx.Err())
	return s.failed
}

// read reads one file. It returns an error only if the content could not be stored.
func (s *scanner) read(root *os.Root, r *reading) error {
	f, path := r.file, r.dir.prefix()+r.file.name
	if f.mode != modeLink && f.size > s.limits.FileSize {
		s.leave(path, LeftLarge)
		r.carry()
		return nil
	}
	data, whole, err := content(root, filepath.FromSlash(path), f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.mode = 0
		return nil
	case err != nil:
		s.leave(path, LeftUnreadable)
		r.carry()
		return nil
	}
	if !whole {
		s.leave(path, LeftChanging)
	}
	margin := recent
	if f.mtime%int64(time.Second) == 0 && f.ctime%int64(time.Second) == 0 {
		margin = recentSeconds
	}
	f.again = f.again || max(f.mtime, f.ctime) > s.started-margin
	f.id, err = s.objects.put(kindBlob, data)
	return err
}

// content returns the content of a file or link. A file that changes while it is read is read again a few times, and then
// once more by the next scan: whole is false, and what was read may be of several moments.
func content(root *os.Root, path string, f *file) (data []byte, whole bool, err error) {
	if f.mode == modeLink {
		target, err := root.Readlink(path)
		return []byte(target), true, err
	}
	const tries = 4
	for try := 1; try <= tries; try++ {
		var before, after stat
		if data, before, after, err = readFile(root, path); err != nil {
			return nil, false, err
		}
		if !isRegular(after.mode) {
			return nil, false, errors.New("it is no file any more")
		}
		f.stat = after
		if before == after && int64(len(data)) == after.size {
			return data, true, nil
		}
	}
	f.again = true
	return data, false, nil
}

var readFile = readOpen // replaced in tests

// readOpen reads a file, and returns what it was before and after that.
func readOpen(root *os.Root, path string) (data []byte, before, after stat, err error) {
	f, err := root.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	if before, err = fileStat(f); err != nil || !isRegular(before.mode) {
		return nil, before, before, err
	}
	data = make([]byte, before.size)
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, before, after, err
	}
	after, err = fileStat(f)
	return data[:n], before, after, err
}

// trees computes the ids of trees and stores those that are new.
func (s *scanner) trees(d *directory) error {
	if d.carried {
		return nil
	}
	d.same = d.old != nil
	kept := d.files[:0]
	for _, f := range d.files {
		if f.sub != nil {
			if err := s.trees(f.sub); err != nil {
				return err
			}
			f.id, f.same = f.sub.id, f.sub.same
		}
		if f.mode != 0 && (f.sub == nil || len(f.sub.files) > 0) { // git has no empty directories
			kept = append(kept, f)
			d.same = d.same && f.same
		}
	}
	d.files = kept
	if d.same = d.same && len(kept) == len(d.old.files); d.same {
		d.id = d.old.id
		return nil
	}
	if len(kept) == 0 && d.path != "" {
		return nil
	}
	return s.put(d)
}

// put stores the tree of a directory.
func (s *scanner) put(d *directory) (err error) {
	entries := make([]entry, 0, len(d.files))
	for _, f := range d.files {
		entries = append(entries, entry{f.name, f.mode, f.id})
	}
	d.id, err = s.objects.putTree(entries)
	return err
}

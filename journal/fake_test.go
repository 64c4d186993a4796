package journal

import (
	"io"
	"time"
)

// A fakeFile is a File in memory that knows what a power cut would leave of it,
// and fails when it is told to.
type fakeFile struct {
	data, synced  []byte
	dirty         bool // something is not synced
	writes, syncs int

	writeAtMost     int // of the next write, if failNextWrite is set; the rest is lost
	failNextWrite   error
	shortNextWrite  bool // cut the next write in half and say nothing
	failNextSync    error
	failSyncNo      int // fails the sync with this number
	failNextTrunc   error
	beforeNextReads []func() // one is taken before each read
}

func (f *fakeFile) ReadAt(b []byte, off int64) (int, error) {
	if len(f.beforeNextReads) > 0 {
		f.beforeNextReads[0]()
		f.beforeNextReads = f.beforeNextReads[1:]
	}
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *fakeFile) Write(b []byte) (int, error) {
	f.writes++
	err := f.failNextWrite
	f.failNextWrite = nil
	if err != nil {
		b = b[:min(len(b), f.writeAtMost)]
	}
	if f.shortNextWrite {
		b, f.shortNextWrite = b[:len(b)/2], false
	}
	f.data = append(f.data, b...)
	f.dirty = f.dirty || len(b) > 0
	return len(b), err
}

func (f *fakeFile) Truncate(size int64) error {
	if err := f.failNextTrunc; err != nil {
		f.failNextTrunc = nil
		return err
	}
	f.data = f.data[:size:size]
	f.dirty = true
	return nil
}

func (f *fakeFile) Sync() error {
	f.syncs++
	err := f.failNextSync
	f.failNextSync = nil
	if f.syncs == f.failSyncNo {
		err = io.ErrClosedPipe
	}
	if err != nil {
		return err // what was written stays in data, as in a page cache
	}
	f.synced, f.dirty = append([]byte(nil), f.data...), false
	return nil
}

func (f *fakeFile) Stat() (int64, time.Time, error) { return int64(len(f.data)), time.Time{}, nil }

func (f *fakeFile) Close() error { return nil }

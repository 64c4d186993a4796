package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// recordName is the file in a store that says which store it is.
const recordName = "store.json"

// A record names the file that it is written to. The record of a copy is another file than
// the one it names, so a store that was copied back is told from the one that was in use.
type record struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Boot   string `json:"boot,omitempty"` // of the machine: a device may have another number after the next one
	Ready  bool   `json:"ready"`          // the streams were there once
}

// A store is the directory of a server, locked.
type store struct {
	dir  string
	lock *os.File

	mu   sync.Mutex  // guards what follows, and the record's file
	file os.FileInfo // of the record
	record
}

// jetstream is the directory in which the server keeps the streams.
func (s *store) jetstream() string { return filepath.Join(s.dir, "jetstream") }

// openStore locks the directory, since two servers on one store would destroy it, and
// decides whether it is the store that this directory had. It makes a store only with
// --new, and accepts one that is not known only with --restored.
func openStore(o options) (s *store, err error) {
	if o.create {
		if err := os.MkdirAll(o.store, 0o700); err != nil {
			return nil, fmt.Errorf("the store: %w", err)
		}
	}
	f, err := os.OpenFile(filepath.Join(o.store, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no store %s: make it with --new", o.store)
	case err != nil:
		return nil, fmt.Errorf("the store: %w", err)
	}
	s = &store{dir: o.store, lock: f}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := tryLock(f); err != nil {
		return nil, fmt.Errorf("another tt-natsd has the store %s", s.dir)
	}
	known, err := s.read()
	if err != nil {
		return nil, err
	}
	if err := s.admit(o, known); err != nil {
		return nil, err
	}
	if known {
		return s, nil
	}
	if o.restored && !o.create {
		return s, nil // accept writes the record, once the streams are closed
	}
	return s, s.write(record{})
}

// admit returns an error unless the store may be opened. known says that its record names
// the file it is in.
func (s *store) admit(o options, known bool) error {
	_, err := os.Stat(s.jetstream())
	streams := err == nil
	switch {
	case o.create && streams:
		return fmt.Errorf("%s is a store already: start it without --new", s.dir)
	case o.create:
		return nil
	case o.restored && !streams:
		return fmt.Errorf("nothing was restored to %s: it has no streams; --new --restored begins with an empty store that hosts fill by tt doctor --repair", s.dir)
	case o.restored:
		return nil
	case !known && streams:
		return fmt.Errorf("%s is not the store that was in use: it was copied here. If servers and hosts are to go on from it, start it once with --restored", s.dir)
	case !known:
		return fmt.Errorf("there is no store in %s: make it with --new", s.dir)
	case s.Ready && !streams:
		return fmt.Errorf("the store %s has lost its streams: put a copy of it back and start it with --restored, or start an empty one with --new --restored", s.dir)
	}
	return nil
}

// read reads the record, and reports whether it names the file it is in.
func (s *store) read() (known bool, err error) {
	path := filepath.Join(s.dir, recordName)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("the store: %w", err)
	}
	if err := json.Unmarshal(b, &s.record); err != nil {
		return false, fmt.Errorf("the store: %s: %w", path, err)
	}
	if s.file, err = os.Stat(path); err != nil {
		return false, fmt.Errorf("the store: %w", err)
	}
	device, inode := fileID(s.file)
	return inode == s.Inode && (device == s.Device || s.Boot != bootID()), nil
}

// write writes the record. A kill leaves the old one, or none.
func (s *store) write(r record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.CreateTemp(s.dir, "."+recordName+"-")
	if err != nil {
		return fmt.Errorf("the store cannot be written to: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if s.file, err = f.Stat(); err != nil {
		return err
	}
	r.Device, r.Inode = fileID(s.file)
	r.Boot = bootID()
	b, err := json.Marshal(r)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.dir, recordName))
	}
	if err != nil {
		return fmt.Errorf("the store cannot be written to: %w", err)
	}
	s.record = r
	return syncDir(s.dir)
}

// ready notes that the streams are there, so that a store without them is refused.
func (s *store) ready() error {
	if s.Ready {
		return nil
	}
	return s.write(record{Ready: true})
}

// gone reports whether the store was removed or replaced while the server runs.
func (s *store) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(filepath.Join(s.dir, recordName))
	return err != nil && errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(info, s.file)
}

func (s *store) Close() error { return s.lock.Close() }

// bootID names the time since the machine was started, or is empty where that is not told.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // not every system can
	return nil
}

const (
	storeInterval = time.Second
	maxReserve    = 64 << 20
)

// reserve returns how much of a file system is to stay free. A server whose write failed
// can do nothing more until it is started again, so it refuses changes before that.
func reserve(size uint64) uint64 { return min(maxReserve, size/20) }

// errGone means that what was acknowledged is not where it was.
var errGone = errors.New("the store was removed or replaced")

// watchStore looks at the directory every second until ctx ends. It lets changes be refused
// while the file system is nearly full, and let through again later; reads go on. It ends the
// server if the directory is another one, or the server cannot write any more.
func watchStore(ctx context.Context, srv *server.Server, s *store, setup *setup, log *logger) {
	before := make(map[*server.Account]server.JetStreamAccountLimits) // while it is full
	for {
		switch {
		case s.gone():
			log.fail(errGone)
			return
		case !srv.JetStreamEnabled():
			log.fail(errWrite)
			return
		}
		free, size, err := freeSpace(s.dir)
		full := err == nil && free < reserve(size)
		setup.health.full.Store(full)
		if full && len(before) == 0 {
			log.Warnf("%s has %d kB left: changes are refused until there are %d kB", s.dir, free>>10, reserve(size)>>10)
		}
		for _, u := range setup.users {
			account, err := srv.LookupAccount(u.accountName())
			if err != nil {
				continue
			}
			limits, limited := before[account]
			switch {
			case full && !limited:
				before[account] = account.JetStreamUsage().Limits
				limits = before[account]
				limits.MaxStore = 1
			case limited && !full && free > reserve(size)*5/4:
				delete(before, account)
			default:
				continue
			}
			if err := account.UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": limits}); err != nil {
				log.Warnf("account %s: %v", u.accountName(), err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(storeInterval):
		}
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// openStore makes the directory and locks it. Two servers on one store would destroy it.
func openStore(dir string) (unlock io.Closer, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("another tt-natsd has the store %s", dir)
	}
	probe, err := os.MkdirTemp(dir, ".probe-")
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the store cannot be written to: %w", err)
	}
	return f, os.Remove(probe)
}

const (
	spaceInterval = time.Second
	maxReserve    = 64 << 20
)

// reserve returns how much of a file system is to stay free. A server whose write failed
// can do nothing more until it is started again, so it refuses changes before that.
func reserve(size uint64) uint64 { return min(maxReserve, size/20) }

// watchSpace lets changes be refused while the file system of the store is nearly full, and
// let through again later, until ctx ends. Reads go on.
func watchSpace(ctx context.Context, s *server.Server, dir string, accounts []string, warn func(format string, args ...any)) {
	before := make(map[*server.Account]server.JetStreamAccountLimits) // while it is full
	for {
		free, size, err := freeSpace(dir)
		full := err == nil && free < reserve(size)
		if full && len(before) == 0 {
			warn("%s has %d kB left: changes are refused until there are %d kB", dir, free>>10, reserve(size)>>10)
		}
		for _, name := range accounts {
			account, err := s.LookupAccount(name)
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
				warn("account %s: %v", name, err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(spaceInterval):
		}
	}
}

package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/lockfile"
)

// forgetAfter is how long the last message of a session is remembered.
const forgetAfter = 30 * 24 * time.Hour

// rememberedMessages is how many messages of a session are remembered. A session that
// goes between workspaces is not told the same again in each.
const rememberedMessages = 8

const lockName = "lock"

// lockPatience is how long a hook waits for another one that remembers something.
var lockPatience = 300 * time.Millisecond

// A SeenStore is a directory with a small file for each session, which holds what
// was said to it last, one message a line.
type SeenStore struct {
	Dir string // created when needed
}

// First reports whether what, one line, is new to call's session, and whether it will be
// remembered. It removes the files of sessions that had no message for a month. Hooks of one session may run at the same time: each keeps what the others said.
func (s SeenStore) First(call payload.Call, what string) (first, remembered bool) {
	if call.SessionID == "" || lockfile.MakeDirs(s.Dir, 0o700) != nil {
		return true, false
	}
	sum := sha256.Sum256([]byte(string(call.Harness) + "\x00" + call.SessionID))
	path := filepath.Join(s.Dir, hex.EncodeToString(sum[:8]))
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	if unlock, err := lockfile.Lock(ctx, filepath.Join(s.Dir, lockName)); err == nil { // else it is said without
		defer func() { _ = unlock() }()
	}
	data, _ := os.ReadFile(path)
	said := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
	if slices.Contains(said, what) {
		return false, true
	}
	s.removeOlder(time.Now().Add(-forgetAfter))
	said = append(said[max(0, len(said)-rememberedMessages+1):], what)
	return true, lockfile.Replace(path, []byte(strings.Join(said, "\n")+"\n"), s.Dir) == nil
}

// sinceLasts is how long [SeenStore.Since] counts from one beginning.
const sinceLasts = time.Hour

// Since returns how long ago it was called for what first, 0 now.
func (s SeenStore) Since(what string) time.Duration {
	sum := sha256.Sum256([]byte(what))
	path := filepath.Join(s.Dir, "since-"+hex.EncodeToString(sum[:8]))
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) < sinceLasts {
		return time.Since(info.ModTime())
	}
	if lockfile.MakeDirs(s.Dir, 0o700) == nil {
		_ = lockfile.Replace(path, nil, s.Dir)
	}
	return 0
}

// removeOlder removes the files that were last written before then, those of
// killed processes included, but the lock.
func (s SeenStore) removeOlder(then time.Time) {
	entries, _ := os.ReadDir(s.Dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.Name() != lockName && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(s.Dir, entry.Name()))
		}
	}
}

package hook

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/fsroom/digest"

	"github.com/talking-stick/tt/lockfile"
)

// forgetAfter is how long the last message of a session is remembered.
const forgetAfter = 30 * 24 * time.Hour

// A SeenStore is a directory with a small file for each session, which holds what
// was said to it last.
type SeenStore struct {
	Dir string // created when needed
}

// First reports whether what differs from the last message to the session of call,
// and remembers it. If it cannot be remembered, First returns false: no message is
// better than the same one again and again. It removes the files of sessions that
// had no message for a month.
func (s SeenStore) First(call Call, what string) bool {
	if call.SessionID == "" || lockfile.MakeDirs(s.Dir, 0o700) != nil {
		return false
	}
	sum := digest.Sum256([]byte(string(call.Harness) + "\x00" + call.SessionID))
	path := filepath.Join(s.Dir, hex.EncodeToString(sum[:8]))
	if last, err := os.ReadFile(path); err == nil && string(last) == what {
		return false
	}
	s.removeOlder(time.Now().Add(-forgetAfter))
	return lockfile.Replace(path, []byte(what), s.Dir) == nil
}

// removeOlder removes the files that were last written before then, those of
// killed processes included.
func (s SeenStore) removeOlder(then time.Time) {
	entries, _ := os.ReadDir(s.Dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(s.Dir, entry.Name()))
		}
	}
}

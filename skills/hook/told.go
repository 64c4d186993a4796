package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/lockfile"
)

// forgetAfter is how long a session is remembered that is not spoken to again.
const forgetAfter = 30 * 24 * time.Hour

// Told remembers in small files, one for each session, what was said last.
type Told struct {
	Dir string // created when needed
}

// First reports whether what is news to the session of call, and remembers it. If
// that cannot be remembered it reports false: saying nothing is better than
// saying the same for ever. Sessions that nobody has spoken to for a month are
// forgotten.
func (t Told) First(call Call, what string) bool {
	if call.SessionID == "" || os.MkdirAll(t.Dir, 0o700) != nil {
		return false
	}
	sum := sha256.Sum256([]byte(string(call.Harness) + "\x00" + call.SessionID))
	path := filepath.Join(t.Dir, hex.EncodeToString(sum[:8]))
	if last, err := os.ReadFile(path); err == nil && string(last) == what {
		return false
	}
	t.forget(time.Now().Add(-forgetAfter))
	return lockfile.Replace(path, []byte(what), t.Dir) == nil
}

// forget removes what was remembered before then, and what was left by a process
// that was killed while it wrote.
func (t Told) forget(then time.Time) {
	entries, _ := os.ReadDir(t.Dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(t.Dir, entry.Name()))
		}
	}
}

package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// Told remembers in small files, one for each session, what was said last.
type Told struct {
	Dir string // created when needed
}

// First reports whether what is news to the session of call, and remembers it. If
// that cannot be remembered it reports false: saying nothing is better than
// saying the same for ever.
func (t Told) First(call Call, what string) bool {
	if call.SessionID == "" || os.MkdirAll(t.Dir, 0o700) != nil {
		return false
	}
	sum := sha256.Sum256([]byte(string(call.Harness) + "\x00" + call.SessionID))
	path := filepath.Join(t.Dir, hex.EncodeToString(sum[:8]))
	if last, err := os.ReadFile(path); err == nil && string(last) == what {
		return false
	}
	return os.WriteFile(path, []byte(what), 0o600) == nil
}

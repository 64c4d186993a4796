package skills

import (
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/skills/rewrite"
)

// An Environment is the machine as the functions of this package see it.
type Environment struct {
	Home     string // the user's home directory
	DataDir  string // Talking Stick's data directory; made when needed
	Version  string // of this program
	Program  string // the path of this program
	Getenv   func(name string) string
	LookPath func(name string) (string, error)
	Now      func() time.Time
}

// Writer returns a writer that replaces files of others and keeps their old content.
func (e Environment) Writer() *rewrite.Writer {
	return &rewrite.Writer{Backups: filepath.Join(e.DataDir, "backups"), Now: e.Now}
}

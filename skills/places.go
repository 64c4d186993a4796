package skills

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills/rewrite"
)

// Root returns the configuration directory of a harness. The harness makes it;
// this package never does.
func (e Environment) Root(id harness.ID) string {
	dir := harness.Get(id).ConfigDir
	base := below(e.Home, dir.Base)
	if dir.Var != "" {
		if moved := strings.TrimSpace(e.Getenv(dir.Var)); filepath.IsAbs(moved) {
			base = moved
		}
	}
	root := below(base, dir.Sub)
	if former := below(e.Home, dir.Former); dir.Former != "" && !isDir(root) && isDir(former) {
		return former
	}
	return root
}

// below returns the file with a path from the table of harnesses.
func below(dir, path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }

// inRoot returns a file in the configuration directory of a harness.
func (e Environment) inRoot(id harness.ID, path string) string {
	return below(e.Root(id), path)
}

// A presence tells whether a harness is on this machine.
type presence int

const (
	missing    presence = iota // neither its program nor its directory
	notStarted                 // its program, but no directory yet
	present
)

func (e Environment) presence(id harness.ID) presence {
	if isDir(e.Root(id)) {
		return present
	}
	if _, err := e.LookPath(harness.Get(id).Program); err == nil {
		return notStarted
	}
	return missing
}

// Detected returns the harnesses that are on this machine.
func (e Environment) Detected() []harness.ID {
	var found []harness.ID
	for _, id := range harness.IDs() {
		if e.presence(id) != missing {
			found = append(found, id)
		}
	}
	return found
}

// shown returns path for people, with "~" for the home directory.
func (e Environment) shown(path string) string {
	if rest, ok := strings.CutPrefix(path, e.Home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

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

// defaultsFile is the file of a data directory in which an installation says what is on.
const defaultsFile = "defaults"

// Auto returns whether tt takes turns for sessions by itself, on or off, as the last installation
// has said, "" if none has.
func Auto(dataDir string) string {
	text, _ := lockfile.ReadRegular(filepath.Join(dataDir, defaultsFile), maxRecord)
	auto, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "auto=")
	if auto != "on" && auto != "off" {
		return ""
	}
	return auto
}

// SetAuto switches that on or off.
func SetAuto(dataDir, auto string) error {
	if err := lockfile.MakeDirs(dataDir, 0o700); err != nil {
		return err
	}
	return lockfile.Replace(filepath.Join(dataDir, defaultsFile), []byte("auto="+auto+"\n"), dataDir)
}

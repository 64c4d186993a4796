package skills

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/talking-stick/tt/lockfile"
)

// defaultsFile is the file of a data directory in which an installation says what is on.
const defaultsFile = "defaults"

const autoOn, autoOff = "auto=on", "auto=off"

// AutoIsOn reports whether tt takes turns for sessions by itself, as far as an installation
// says so.
func AutoIsOn(dataDir string) bool {
	text, err := os.ReadFile(filepath.Join(dataDir, defaultsFile))
	return err == nil && slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return string(bytes.TrimSpace(line)) == autoOn })
}

// SetAuto switches that on or off. Other lines of the file stay.
func SetAuto(dataDir string, on bool) error {
	if err := lockfile.MakeDirs(dataDir, 0o700); err != nil {
		return err
	}
	path, line := filepath.Join(dataDir, defaultsFile), autoOff
	if on {
		line = autoOn
	}
	text, _ := os.ReadFile(path)
	var lines [][]byte
	for _, l := range bytes.Split(text, []byte("\n")) {
		if len(l) > 0 && !bytes.HasPrefix(bytes.TrimSpace(l), []byte("auto=")) {
			lines = append(lines, l)
		}
	}
	lines = append(lines, []byte(line), nil)
	return lockfile.Replace(path, bytes.Join(lines, []byte("\n")), dataDir)
}

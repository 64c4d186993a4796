package skills

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

// defaultsFile is the file of a data directory in which an installation says what is on.
const defaultsFile = "defaults"

const autoOn, autoOff = "auto=on", "auto=off"

// Auto returns whether tt takes turns for sessions by itself, on or off, as the last installation
// has said, "" if none has.
func Auto(dataDir string) (auto string) {
	text, _ := os.ReadFile(filepath.Join(dataDir, defaultsFile))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if l := string(bytes.TrimSpace(line)); l == autoOn || l == autoOff {
			auto = strings.TrimPrefix(l, "auto=")
		}
	}
	return auto
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

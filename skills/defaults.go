package skills

import (
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

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

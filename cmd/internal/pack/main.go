// Command pack makes the release archives.
//
//	pack -mtime SECONDS DIRECTORY...
//
// Each directory becomes DIRECTORY.tar.gz beside it, and SHA256SUMS in the same
// place lists them. The same files give the same bytes, whenever and wherever:
// names are sorted, every time is the given one, owners are numbers and 0, and of
// modes only "executable" is kept.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	seconds := flag.Int64("mtime", 0, "the modification `time` of everything, in seconds since 1970")
	flag.Parse()
	if err := pack(flag.Args(), time.Unix(*seconds, 0)); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack archives the directories, which are all in one place, and writes the sums.
func pack(dirs []string, mtime time.Time) error {
	if len(dirs) == 0 {
		return fmt.Errorf("no directory is named")
	}
	var sums strings.Builder
	for _, dir := range dirs {
		archive, err := archive(dir, mtime)
		if err != nil {
			return err
		}
		name := filepath.Base(dir) + ".tar.gz"
		if err := os.WriteFile(filepath.Join(filepath.Dir(dir), name), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
	}
	return os.WriteFile(filepath.Join(filepath.Dir(dirs[0]), "SHA256SUMS"), []byte(sums.String()), 0o644)
}

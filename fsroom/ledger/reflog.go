package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A headChange is a line of a reference's log.
type headChange struct {
	from, to ID
	at       int64  // seconds
	what     string // "commit", "reset", "checkout" and the like
	end      int64  // bytes of the log until after this line
}

// isCommit reports whether HEAD moved because somebody made a commit, also of what another one has.
func (c *headChange) isCommit() bool {
	what, _, _ := strings.Cut(c.what, " ")
	return slices.Contains([]string{"commit", "cherry-pick", "revert", "am"}, what)
}

func (r *repository) headLog() string { return filepath.Join(r.gitDir, "logs", "HEAD") }

// fileSize returns how many bytes a file has, 0 if there is none.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// readLog reads the end of a log, oldest first. It is empty where git keeps none.
func readLog(path string) (all []headChange) {
	const most = 256 << 10
	b, _, err := readEnd(path, most)
	if err != nil {
		return nil
	}
	end := fileSize(path) - int64(len(b))
	for line := range bytes.Lines(b) {
		end += int64(len(line))
		head, message, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		f := strings.Fields(head)
		if len(f) < 4 {
			continue
		}
		from, err1 := ParseID(f[0])
		to, err2 := ParseID(f[1])
		at, err3 := strconv.ParseInt(f[len(f)-2], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		what, _, _ := strings.Cut(message, ":")
		all = append(all, headChange{from, to, at, what, end})
	}
	return all
}

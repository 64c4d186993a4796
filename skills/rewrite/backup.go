package rewrite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/lockfile"
)

const (
	stamp       = "20060102T150405.000Z" // the start of a backup's name
	mostBackups = 10
)

// keep stores content in the backup directory and returns the path of the backup. Its
// name consists of the time and the path of the file.
func (w *Writer) keep(path string, content []byte) (string, error) {
	if w.Backups == "" {
		return "", nil
	}
	if err := lockfile.MakeDirs(w.Backups, 0o700); err != nil {
		return "", err
	}
	base := w.Now().UTC().Format(stamp) + "-" + flatten(path)
	for n := 0; ; n++ {
		name := base
		if n > 0 {
			name = fmt.Sprintf("%s.%d", base, n)
		}
		backup := filepath.Join(w.Backups, name)
		err := writeNew(backup, content)
		if err == nil {
			w.prune(flatten(path))
		}
		if !errors.Is(err, fs.ErrExist) {
			return backup, err
		}
	}
}

// prune removes all but the newest backups of the file with that flattened name. It
// ignores errors.
func (w *Writer) prune(flat string) {
	entries, _ := os.ReadDir(w.Backups) // sorted by name, and so by age
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		number, ok := strings.CutPrefix(name[min(len(stamp), len(name)):], "-"+flat)
		if ok && (number == "" || number[0] == '.' && strings.Trim(number[1:], "0123456789") == "") {
			names = append(names, name)
		}
	}
	for len(names) > mostBackups {
		_ = os.Remove(filepath.Join(w.Backups, names[0]))
		names = names[1:]
	}
}

func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	lockfile.Adopt(path)
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// flatten returns path as one file name; of a long path only the end.
func flatten(path string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, path), "-")
	const most = 160
	if len(name) > most {
		name = name[len(name)-most:]
	}
	return name
}

package ttcmd

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile"
)

// A cursorFile contains the number of the last event that a reader has printed, as
// decimal digits. It is replaced atomically.
type cursorFile struct {
	path  string
	seq   int64
	found bool // false: the file was missing or empty
}

// openCursorFile reads the file of --cursor.
func openCursorFile(c *cli.Invocation, name string) (*cursorFile, error) {
	path := c.Env.Abs(name)
	// The file is replaced, so a link to it must be followed here.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f := &cursorFile{path: path}
	const longest = 64 // bytes: a number with white space around it
	b, err := lockfile.ReadRegular(path, longest)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, f.refuse("it cannot be read: %v", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return f, nil
	}
	f.found = true
	if f.seq, err = strconv.ParseInt(text, 10, 64); err != nil || f.seq < 0 {
		return nil, f.refuse("it holds something else than a number: %.40q", text)
	}
	return f, nil
}

// save writes the number of the last event that was printed to the file.
func (f *cursorFile) save(seq int64) error {
	if f.found && f.seq == seq {
		return nil
	}
	if err := lockfile.Replace(f.path, strconv.AppendInt(nil, seq, 10), filepath.Dir(f.path)); err != nil {
		return f.refuse("it cannot be written: %v", err)
	}
	f.found, f.seq = true, seq
	return nil
}

func (f *cursorFile) refuse(format string, args ...any) error {
	e := code.New(code.InvalidCursor, "the cursor file %s cannot be used: "+format, append([]any{f.path}, args...)...)
	return e.With("file", f.path).WithHint("name another file, or remove this one to start from now on")
}

package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile"
)

// save writes the report to the file that -o names, else to one below the data directory,
// and returns its path. A file is replaced as a whole, and only its owner may read it.
func save(c *cli.Invocation, room *member.Room, content []byte) (string, error) {
	path, err := c.Env.Abs(c.String("output")), error(nil)
	if !c.Given("output") {
		path, err = freeName(filepath.Join(room.Client.Store.Dir(), "reports"), room.FS.Name(), c.String("format"), time.Now())
		if err != nil {
			return "", room.Client.Store.Explain(err, path)
		}
	}
	if err = write(path, content); err == nil {
		return path, nil
	}
	if errors.Is(err, syscall.ENOSPC) {
		return "", code.New(code.DiskFull, "no space left for %s", path).
			WithHint("free some space, or name a file on another disk: -o FILE").With("path", path).Because(err)
	}
	if info, failed := os.Stat(path); failed == nil && info.IsDir() {
		return "", c.Usagef("-o names a directory: %s", path).WithHint("name a file: -o %s", filepath.Join(path, "report.html"))
	}
	if _, failed := os.Stat(filepath.Dir(path)); errors.Is(failed, fs.ErrNotExist) {
		return "", c.Usagef("there is no directory %s", filepath.Dir(path)).WithHint("make it, or name another file with -o")
	}
	return "", code.New(code.Internal, "the report cannot be written: %v", err).
		WithHint("name another file with -o; without it the report goes to the data directory").
		With("path", path).Because(err)
}

// freeName makes the directory and returns a path in it that no file has.
func freeName(dir, room, format string, now time.Time) (string, error) {
	if err := fsroom.MakeDir(dir); err != nil {
		return dir, err
	}
	ending := cmp.Or(map[string]string{"json": ".json", "trace": ".trace.json"}[format], ".html")
	base := filepath.Join(dir, room+"-"+now.UTC().Format("20060102T150405Z"))
	path := base + ending
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil { // one that is there and cannot be seen cannot be written
			return path, nil
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ending)
	}
}

// write replaces the file. What is no file, such as a pipe or a terminal, is written to;
// a link leads to what is replaced.
func write(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Close())
	} else if err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	return lockfile.ReplaceUnsynced(path, content, filepath.Dir(path))
}

// browse opens the file with the program that the system has for it, and does not wait
// for that.
func browse(path string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	cmd := exec.Command(opener, path)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

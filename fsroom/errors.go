package fsroom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal"
	"github.com/talking-stick/tt/lockfile"
)

// Explain gives an error about path a code, a message and a hint. It returns nil and
// errors that have a code as they are.
func (s *Store) Explain(err error, path string) error {
	if err == nil {
		return nil
	}
	var (
		coded       *code.Error
		busy        *lockfile.BusyError
		unsupported *lockfile.UnsupportedError
		corrupt     *journal.CorruptError
		failed      *journal.AppendError
		special     *lockfile.NotRegularError
		notDir      *NotDirError
		errno       syscall.Errno
	)
	switch {
	case errors.As(err, &coded), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &busy):
		return explainBusy(busy)
	case errors.As(err, &unsupported):
		return code.New(code.UnsupportedFS, "%s is on a %s file system, where locks and wake-ups do not work", unsupported.Dir, unsupported.Type).
			WithHint("set TALKING_STICK_DATA_DIR to a directory on a local disk").
			With("path", unsupported.Dir).With("filesystem", unsupported.Type).Because(err)
	case errors.As(err, &corrupt):
		return code.New(code.CorruptRoom, "%s:%d is damaged: %s", corrupt.Path, corrupt.Line, corrupt.Problem).
			WithHint(`look at it with "tt doctor"; "tt doctor --repair" keeps the damaged file beside the repaired one`).
			With("file", corrupt.Path).With("line", corrupt.Line).Because(err)
	case errors.As(err, &special):
		return code.New(code.CorruptRoom, "something else stands in the place of a file: %v", err).
			WithHint(`look at it with "tt doctor", and move it away`).With("file", path).Because(err)
	case errors.As(err, &notDir):
		return code.New(code.CorruptRoom, "something else stands in the place of a directory: %v", err).
			WithHint(`look at it with "tt doctor", and move it away`).With("file", notDir.Path).Because(err)
	case errors.Is(err, errExchanged) && (!errors.As(err, &failed) || failed.Undone):
		return code.New(code.CorruptRoom, "the directory %s was exchanged for another one again and again; nothing was changed", path).
			WithHint("wait until the copy is in its place, and try again").With("file", path).Because(err)
	case errors.As(err, &failed) && !failed.Undone:
		return code.New(code.InDoubt, "writing %s failed half-way and could not be undone: %v", path, failed.Err).
			WithHint(`find out with "tt events" whether it happened before doing it again`).With("path", path).Because(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return code.New(code.DiskFull, "no space left for %s; nothing was changed", path).
			WithHint("free some space and run the command again").With("path", path).Because(err)
	case errors.Is(err, syscall.EFBIG):
		return code.New(code.DiskFull, "%s has reached the size that files may have here; nothing was changed", path).
			WithHint("raise the limit (ulimit -f), or end the room, which archives its journal").With("path", path).Because(err)
	case errors.Is(err, context.DeadlineExceeded) && s.opts.Engine != nil:
		return code.New(code.EngineUnreachable, "the engine did not answer in time").
			WithHint("nothing was changed; look at the network and the server, and try again").With("path", path).Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return code.New(code.LockTimeout, "the room's lock was not had in time").With("path", path).Because(err).WithHint("try again")
	case errors.Is(err, fs.ErrPermission), errors.As(err, &errno):
		return code.New(code.DataDirUnusable, "the data directory cannot be used: %v", err).
			WithHint("%s", s.unusableHint(err)).With("path", path).Because(err)
	}
	return err
}

// unusableHint returns the hint for a data directory that cannot be used.
func (s *Store) unusableHint(err error) string {
	const another = "set TALKING_STICK_DATA_DIR to another directory, the same one for all agents"
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "allow more open files (ulimit -n), or end some programs"
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("a file stands where a directory should be, in %s or above it; move it away, or %s", s.dir, another)
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("%s is read-only here, perhaps because of a sandbox; allow writing to it, or %s", s.dir, another)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf(`make %s and what is in it writable for you, or %s; "tt doctor" names files of other users`, s.dir, another)
	}
	return fmt.Sprintf("look at the disk that %s is on, or %s", s.dir, another)
}

func explainBusy(busy *lockfile.BusyError) error {
	e := code.New(code.LockTimeout, "the room's lock was not had in %s", busy.Waited.Round(100_000_000)).
		With("path", busy.Path).Because(busy)
	if h := busy.Holder; h != nil {
		e.Message += ": it is held by " + h.String()
		e.With("holder_pid", h.PID).With("holder_command", h.Command).With("holder_state", h.State)
		if h.State == "stopped" {
			return e.WithHint("continue it with kill -CONT %d, or end it", h.PID)
		}
	}
	return e.WithHint("try again; if it stays so, look with \"tt doctor\"")
}

// IsUnreachable reports whether the error says that the engine cannot be reached, or that the one that can be has less
// than this host and cannot confirm that it has no more.
func IsUnreachable(err error) bool {
	var coded *code.Error
	var behind *engine.BehindError
	return errors.As(err, &coded) && coded.Code == code.EngineUnreachable || errors.As(err, &behind)
}

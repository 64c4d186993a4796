package ttcmd

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/lockfile"
)

var jobLogCommand = &cli.Command{
	Name:  "job log",
	Reads: true,
	Args:  []cli.Arg{jobArg},
	Short: "print what a job wrote",
	Flags: func(f *cli.Flags) {
		f.Int64("tail", "N", 100, "the last N lines, at most 1 MiB; 0 prints all")
		f.Bool("follow", "go on until the job has ended")
		pathFlag(f)
	},
	Streams: true,
	Errors:  []code.Code{code.JobNotFound},
	Run:     runJobLog,
}

func runJobLog(ctx context.Context, c *cli.Invocation) error {
	ctx, stop := onSignal(ctx, endings...)
	defer stop()
	j, _, err := findJob(ctx, c)
	if err != nil {
		return interrupted(ctx, err)
	}
	if c.Int64("tail") < 0 {
		return c.Usagef("--tail is 0 or more").With("flag", "tail")
	}
	c.Out.Until(ctx)
	f, err := lockfile.OpenRegular(j.Log(), os.O_RDONLY)
	if err != nil {
		return code.New(code.JobNotFound, "the log of job %s cannot be read: %v", j.End().Title(), err).Because(err)
	}
	defer f.Close()
	p := &logPrinter{file: f, write: func(line string) error {
		return c.Out.WriteLine(map[string]string{"line": line}, func(t *cli.Text) { t.Line("%s", line) })
	}}
	if skipped, err := p.skip(int(c.Int64("tail"))); err != nil {
		return err
	} else if skipped > 0 {
		c.Out.Remark(counted(int(skipped), "byte") + " before that are left out; tt job log --tail 0 prints all")
	}
	for c.Bool("follow") && j.Outcome == "" && ctx.Err() == nil {
		if err := p.print(); err != nil {
			return err
		}
		soon, cancel := context.WithTimeout(ctx, logPause)
		j = j.Await(soon)
		cancel()
	}
	if err := p.print(); err != nil {
		return err
	}
	return p.flush()
}

// logPause is how often a log that is followed is looked at.
const logPause = 200 * time.Millisecond

// longestLine is how many bytes a line of a log has at most: a longer one is printed in parts.
const longestLine = 64 << 10

// mostTail is how many bytes the last lines of a log have at most.
const mostTail = 1 << 20

// A logPrinter prints a file that may grow, by lines.
type logPrinter struct {
	file  *os.File
	write func(line string) error
	read  *bufio.Reader // of the file
	rest  []byte        // of the last line, which has no end yet
}

// skip goes to the last lines of the file, [mostTail] at most, and returns how many bytes stand
// before them. With 0 it goes nowhere.
func (p *logPrinter) skip(lines int) (skipped int64, err error) {
	if lines == 0 {
		return 0, nil
	}
	end, err := p.file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	from := max(0, end-mostTail)
	tail := make([]byte, end-from)
	n, err := p.file.ReadAt(tail, from)
	if err != nil && err != io.EOF {
		return 0, err
	}
	tail = bytes.TrimSuffix(tail[:n], []byte("\n"))
	for ; lines > 0; lines-- {
		i := bytes.LastIndexByte(tail, '\n')
		if i < 0 {
			return p.file.Seek(from, io.SeekStart)
		}
		tail = tail[:i]
	}
	return p.file.Seek(from+int64(len(tail))+1, io.SeekStart)
}

// print prints the whole lines that have come.
func (p *logPrinter) print() error {
	if p.read == nil {
		p.read = bufio.NewReaderSize(p.file, longestLine)
	}
	for {
		part, err := p.read.ReadSlice('\n')
		p.rest = append(p.rest, part...)
		if err == io.EOF {
			return nil
		}
		if err == nil || err == bufio.ErrBufferFull {
			err = p.flush()
		}
		if err != nil {
			return err
		}
	}
}

// flush prints the line that was read.
func (p *logPrinter) flush() error {
	if len(p.rest) == 0 {
		return nil
	}
	line := strings.TrimSuffix(string(p.rest), "\n")
	p.rest = p.rest[:0]
	return p.write(line)
}

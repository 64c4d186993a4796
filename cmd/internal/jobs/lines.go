package jobs

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
)

// longestLine is how many bytes a line of a log has at most: a longer one is printed in parts.
const longestLine = 64 << 10

// mostTail is how many bytes the last lines of a log have at most.
const mostTail = 1 << 20

// Lines reads a file that may grow, by lines.
type Lines struct {
	file  *os.File
	write func(line string) error
	read  *bufio.Reader // of the file
	rest  []byte        // of the last line, which has no end yet
}

// NewLines returns the lines of a file, which are written by write.
func NewLines(file *os.File, write func(line string) error) *Lines {
	return &Lines{file: file, write: write, read: bufio.NewReaderSize(file, longestLine)}
}

// Skip goes to the last lines of the file, [mostTail] at most, and returns how many bytes stand
// before them. With 0 it goes nowhere.
func (l *Lines) Skip(lines int) (skipped int64, err error) {
	if lines == 0 {
		return 0, nil
	}
	end, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	from := max(0, end-mostTail)
	tail := make([]byte, end-from)
	n, err := l.file.ReadAt(tail, from)
	if err != nil && err != io.EOF {
		return 0, err
	}
	tail = bytes.TrimSuffix(tail[:n], []byte("\n"))
	for ; lines > 0; lines-- {
		i := bytes.LastIndexByte(tail, '\n')
		if i < 0 {
			return l.file.Seek(from, io.SeekStart)
		}
		tail = tail[:i]
	}
	return l.file.Seek(from+int64(len(tail))+1, io.SeekStart)
}

// Print writes the whole lines that have come.
func (l *Lines) Print() error {
	for {
		part, err := l.read.ReadSlice('\n')
		l.rest = append(l.rest, part...)
		if err == io.EOF {
			return nil
		}
		if err == nil || err == bufio.ErrBufferFull {
			err = l.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// Flush writes the line that was read.
func (l *Lines) Flush() error {
	if len(l.rest) == 0 {
		return nil
	}
	line := strings.TrimSuffix(string(l.rest), "\n")
	l.rest = l.rest[:0]
	return l.write(line)
}

package ttcmd

import (
	"bytes"
	"io"
	"os"
)

// longestLine is how many bytes a line of a log has at most: a longer one is printed in parts.
const longestLine = 64 << 10

// mostTail is how many bytes the last lines of a log have at most.
const mostTail = 1 << 20

// A logPrinter prints a file that may grow, by lines.
type logPrinter struct {
	file  *os.File
	write func(line string) error
	rest  []byte // of the last line, which has no end yet
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
	block := make([]byte, longestLine)
	for {
		n, err := p.file.Read(block)
		p.rest = append(p.rest, block[:n]...)
		for {
			i := bytes.IndexByte(p.rest, '\n')
			if i < 0 && len(p.rest) < longestLine {
				break
			}
			line := p.rest
			if i >= 0 {
				line = p.rest[:i]
			}
			if err := p.write(string(line)); err != nil {
				return err
			}
			p.rest = p.rest[min(len(p.rest), len(line)+1):]
		}
		if err == io.EOF || n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// flush prints the last line, if it has no end.
func (p *logPrinter) flush() error {
	if len(p.rest) == 0 {
		return nil
	}
	return p.write(string(p.rest))
}

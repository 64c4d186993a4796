package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"
)

// Env is the environment of a program: everything that a command may ask of its
// process. Tests write it as a literal. A nil Lookup stands for an empty
// environment, a nil Now for the zero time, and a nil Width for 80 columns.
type Env struct {
	Args           []string            // the arguments, without the program's name
	Lookup         func(string) string // an environment variable, "" if unset
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdinTTY       bool // whether each of the three is a terminal
	StdoutTTY      bool
	StderrTTY      bool
	Dir            string // the current directory, "" if it is gone
	Home           string // the user's home directory, "" if unknown
	Now            func() time.Time
	Width          func() int // columns of the terminal, 0 if unknown
	Executable     func() (string, error)
}

// SystemEnv returns the environment of this process.
func SystemEnv() *Env {
	dir, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	return &Env{
		Args:       os.Args[1:],
		Lookup:     os.Getenv,
		Stdin:      os.Stdin,
		Stdout:     duplicate(os.Stdout),
		Stderr:     duplicate(os.Stderr),
		StdinTTY:   term.IsTerminal(int(os.Stdin.Fd())),
		StdoutTTY:  term.IsTerminal(int(os.Stdout.Fd())),
		StderrTTY:  term.IsTerminal(int(os.Stderr.Fd())),
		Dir:        dir,
		Home:       home,
		Now:        time.Now,
		Width:      terminalWidth,
		Executable: os.Executable,
	}
}

// Execute runs p as this process and does not return.
func Execute(p *Program) {
	env := SystemEnv()
	quit(env, p.Main(context.Background(), env))
}

func terminalWidth() int {
	for _, file := range []*os.File{os.Stdout, os.Stderr} {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Abs returns path as an absolute path: a relative one is below Dir.
func (e *Env) Abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

func (e *Env) lookup(name string) string {
	if e.Lookup == nil {
		return ""
	}
	return e.Lookup(name)
}

func (e *Env) now() time.Time {
	if e.Now == nil {
		return time.Time{}
	}
	return e.Now()
}

// columns returns the width that text is laid out for.
func (e *Env) columns(terminal bool) int {
	if !terminal || e.Width == nil {
		return defaultWidth
	}
	width := e.Width()
	if width <= 0 {
		return defaultWidth
	}
	return max(width, leastWidth)
}

// Package instructions manages the text that tells agents how to work together. It
// has three layers: one that comes with the program, the user's and the project's.
// They are shown in this order, so that a later one can overrule an earlier one.
//
// A layer may have sections for single harnesses, such as "## Claude". The text
// before the first of them is for all.
package instructions

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/identity/harness"
	"github.com/talking-stick/tt/lockfile"
	"github.com/talking-stick/tt/skills/rewrite"
)

// MaxBytes is the largest size of a layer.
const MaxBytes = 262144

//go:embed bundled.md
var bundled string

// A Scope names a layer, or all of them together.
type Scope string

// The scopes. Effective is the three layers, one after the other.
const (
	Effective Scope = "effective"
	Bundled   Scope = "bundled"
	User      Scope = "user"
	Project   Scope = "project"
)

// ParseScope returns the scope that name means; "base" is another name of
// bundled and "" means effective. Anything else is a usage error.
func ParseScope(name string) (Scope, error) {
	switch Scope(name) {
	case "":
		return Effective, nil
	case "base":
		return Bundled, nil
	case Effective, Bundled, User, Project:
		return Scope(name), nil
	}
	return "", code.New(code.Usage, "unknown scope %q", name).WithHint("one of effective, bundled, user, project")
}

// Layers says where the layers are.
type Layers struct {
	DataDir       string // the data directory; the user's layer is in it
	WorkspaceRoot string // the project's layer is below it; "" if there is no project
}

// A Source is a layer that a text comes from. The bundled one has no path.
type Source struct {
	Scope Scope  `json:"scope"`
	Path  string `json:"path,omitempty"`
}

// Paths are the files of the layers, whether they exist or not.
type Paths struct {
	User    string `json:"user"`
	Project string `json:"project,omitempty"`
}

// A Document is what Show returns.
type Document struct {
	Harness string   `json:"harness"` // the reader
	Scope   Scope    `json:"scope"`
	Text    string   `json:"text"`
	Sources []Source `json:"sources"`
	Paths   Paths    `json:"paths"`
}

// Paths returns where the editable layers are.
func (l Layers) Paths() Paths {
	p := Paths{User: filepath.Join(l.DataDir, "instructions.md")}
	if l.WorkspaceRoot != "" {
		p.Project = filepath.Join(l.WorkspaceRoot, ".talking-stick", "instructions.md")
	}
	return p
}

// Show returns the text of scope for reader, see [ParseReader]. A layer without a
// file has no text and is not among the sources. A layer that is larger than
// MaxBytes is an error.
func (l Layers) Show(scope Scope, reader string) (Document, error) {
	doc := Document{Harness: reader, Scope: scope, Sources: []Source{}, Paths: l.Paths()}
	var parts []string
	for _, source := range l.sources(scope) {
		text, found, err := source.read()
		if err != nil {
			return doc, l.unusable(source.Scope, err)
		}
		if !found {
			continue
		}
		doc.Sources = append(doc.Sources, source)
		if part := strings.TrimSpace(extract(text, reader)); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) > 0 {
		doc.Text = strings.Join(parts, "\n\n") + "\n"
	}
	return doc, nil
}

func (l Layers) sources(scope Scope) []Source {
	paths := l.Paths()
	var sources []Source
	for _, s := range []Source{{Scope: Bundled}, {User, paths.User}, {Project, paths.Project}} {
		there := s.Scope == Bundled || s.Path != ""
		if there && (scope == Effective || scope == s.Scope) {
			sources = append(sources, s)
		}
	}
	return sources
}

func (s Source) read() (text string, found bool, err error) {
	if s.Scope == Bundled {
		return bundled, true, nil
	}
	info, err := os.Stat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if info.Size() > MaxBytes {
		return "", false, code.New(code.BodyTooLarge, "%s has %d bytes, the most is %d", s.Path, info.Size(), MaxBytes).
			WithHint("shorten it with \"tt instructions edit --%s\"", s.Scope).
			With("path", s.Path).With("supplied", info.Size()).With("limit", MaxBytes)
	}
	data, err := rewrite.Read(s.Path)
	return string(data), err == nil, err
}

// unusable explains an error of the system at the file of the layer scope.
func (l Layers) unusable(scope Scope, err error) error {
	if code.Of(err) != code.Internal || scope != User {
		return err
	}
	return code.New(code.DataDirUnusable, "cannot use the data directory %s: %v", l.DataDir, err).
		WithHint(`make it and what is in it usable for you, or set TALKING_STICK_DATA_DIR to another directory`).
		With("path", l.DataDir).Because(err)
}

// EditTarget returns the file of the layer scope, User or Project. It makes an empty
// file if there is none, and reports whether it did.
func (l Layers) EditTarget(scope Scope) (path string, created bool, err error) {
	path, err = l.editable(scope)
	if err != nil {
		return "", false, err
	}
	mode, dirMode := fs.FileMode(0o600), fs.FileMode(0o700)
	if scope == Project { // it belongs to the repository, not to the user
		mode, dirMode = 0o644, 0o755
	}
	if err := lockfile.MakeDirs(filepath.Dir(path), dirMode); err != nil {
		return path, false, l.unusable(scope, err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return path, false, nil
	}
	if err != nil {
		return path, false, l.unusable(scope, err)
	}
	lockfile.Adopt(path)
	return path, true, file.Close()
}

// Reset removes the file of the layer scope, User or Project. It returns the path of
// the file and that of the backup, "" if there was no file.
func (l Layers) Reset(scope Scope, w *rewrite.Writer) (path, backup string, err error) {
	path, err = l.editable(scope)
	if err != nil {
		return "", "", err
	}
	before, err := rewrite.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, "", nil
	}
	if err != nil {
		return path, "", err
	}
	backup, err = w.Remove(path, before)
	return path, backup, err
}

func (l Layers) editable(scope Scope) (string, error) {
	paths := l.Paths()
	switch {
	case scope == User:
		return paths.User, nil
	case scope == Project && paths.Project != "":
		return paths.Project, nil
	case scope == Project:
		return "", code.New(code.Usage, "there is no project here")
	}
	return "", code.New(code.Usage, "the %s instructions cannot be changed", scope).WithHint("use --user or --project")
}

// Opener returns the command with which the desktop of a system opens a text file, for a user
// who has not chosen an editor; nil if there is none.
func Opener(goos, path string, getenv func(string) string, lookPath func(string) (string, error)) []string {
	switch {
	case goos == "darwin":
		return []string{"open", "-t", path}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		if _, err := lookPath("xdg-open"); err == nil {
			return []string{"xdg-open", path}
		}
	}
	return nil
}

// All is the reader who sees every section. Other readers are harnesses, by the
// name that the ids of their agents start with.
const All = "all"

// Readers returns the names of all readers, for completion and messages.
func Readers() []string { return append(harness.Agents(), All) }

// ParseReader returns the reader that name means, All for "all" and "". Every name
// of a harness will do; an unknown one is a usage error.
func ParseReader(name string) (string, error) {
	if name == "" || name == All {
		return All, nil
	}
	if h := harness.Find(name); h != nil {
		return h.Agent, nil
	}
	return "", code.New(code.Usage, "unknown harness %q", name).
		WithHint("one of %s", strings.Join(Readers(), ", "))
}

// ReaderOf returns the harness that an agent id starts with, All for any other id.
func ReaderOf(agentID string) string {
	prefix, _, _ := strings.Cut(agentID, ":")
	if h := harness.Find(prefix); h != nil {
		return h.Agent
	}
	return All
}

// extract returns the part of text that is for reader: everything before the first
// section for a harness, and the sections for reader. A section ends at the next
// heading of its level. A section for no harness is left out behind one for a
// harness.
func extract(text, reader string) string {
	if reader == All {
		return text
	}
	var out strings.Builder
	keep, anySection, fence := true, false, ""
	for line := range strings.Lines(text) {
		fence = fenceAfter(fence, line)
		if title, ok := strings.CutPrefix(line, "## "); ok && fence == "" {
			section := harness.Find(strings.TrimRight(title, "# \t\r\n"))
			anySection = anySection || section != nil
			keep = !anySection || section != nil && section.Agent == reader
		}
		if keep {
			out.WriteString(line)
		}
	}
	return out.String()
}

// fenceAfter returns the code fence that is open after line, "" if none is, where
// fence was open before it. What looks like a heading in a code block is not one.
func fenceAfter(fence, line string) string {
	text := strings.TrimSpace(line)
	for _, marker := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(text, marker):
		case fence == "":
			return marker
		case fence == marker:
			return ""
		}
	}
	return fence
}

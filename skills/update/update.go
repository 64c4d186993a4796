// Package update tells how this program was installed and how to get a newer one.
//
// It never downloads anything: the command that does is shown, or run by the
// caller. In a checkout there is nothing to update but the checkout.
package update

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

const (
	module   = "github.com/talking-stick/tt"
	releases = "https://github.com/talking-stick/tt/releases/latest/download"
)

// A Method is a way of installing the program.
type Method string

// The methods. Unknown is a binary that somebody has put somewhere.
const (
	GoInstall Method = "go-install"
	Archive   Method = "archive"
	Make      Method = "make"
	Unknown   Method = "unknown"
)

// A Build is what the binary knows about itself.
type Build struct {
	// Installer is set by the linker: "archive" by "make dist", "make" by
	// "make install", "" by everything else.
	Installer string
	// Version is the version of the main module: "(devel)" or "" outside a release.
	Version string
}

// An Installation is a binary in its place.
type Installation struct {
	Executable string // its path; links in it are followed
	Home       string
	GOOS       string
	GOARCH     string
	Getenv     func(name string) string
	Build      Build
}

// Advice is how to get a newer version.
type Advice struct {
	Method     Method   `json:"method"`
	Executable string   `json:"executable"`
	Command    []string `json:"command"`        // arguments, to be run as they are
	Shell      string   `json:"shell"`          // the same for people to copy
	Runnable   bool     `json:"runnable"`       // whether running Command without a look at it is all right
	Note       string   `json:"note,omitempty"` // what to know besides
}

// Advise returns how to update the installation. In a checkout of the program's
// own source it returns a usage error that says what to do there.
func (i Installation) Advise() (Advice, error) {
	real, err := filepath.EvalSymlinks(i.Executable)
	if err != nil {
		return Advice{}, code.New(code.Internal, "cannot tell where tt is installed").Because(err)
	}
	if root := checkout(filepath.Dir(real)); root != "" {
		return Advice{}, code.New(code.Usage, "tt runs from a checkout of its source in %s", root).
			WithHint("update it with \"git -C %s pull\" and build it again with \"make -C %[1]s\"", quote(root)).
			With("checkout", root)
	}
	return i.advise(real), nil
}

func (i Installation) advise(real string) Advice {
	dir := filepath.Dir(real)
	switch {
	case i.Build.Installer == "archive":
		return i.fromArchive(real)
	case i.Build.Installer == "make":
		return shell(Make, real, "git pull && make install PREFIX="+quote(filepath.Dir(dir)),
			"run it in the checkout that tt was built from")
	case isRelease(i.Build.Version) || i.isGoBin(dir):
		return i.withGo(real)
	}
	a := i.fromArchive(real)
	a.Method, a.Note = Unknown, "how this tt was installed is unknown; this puts the latest release in its place"
	return a
}

// withGo installs to where the binary is, wherever GOBIN points today.
func (i Installation) withGo(real string) Advice {
	command := []string{"go", "install", module + "/cmd/tt@latest"}
	a := Advice{Method: GoInstall, Executable: real, Command: command, Runnable: true}
	if dir := filepath.Dir(real); dir != i.goBin() {
		a.Command = append([]string{"env", "GOBIN=" + dir}, command...)
	}
	a.Shell = join(a.Command)
	return a
}

// fromArchive unpacks the latest release over the binary's directory. The
// archive has the programs in bin.
func (i Installation) fromArchive(real string) Advice {
	name := "tt_" + i.GOOS + "_" + i.GOARCH + ".tar.gz"
	text := "curl -fsSL " + releases + "/" + name + " | tar -xzf - -C " + quote(filepath.Dir(real)) + " --strip-components=2 --wildcards '*/bin/*'"
	if i.GOOS == "darwin" { // BSD tar matches patterns by itself
		text = strings.Replace(text, " --wildcards", "", 1)
	}
	return shell(Archive, real, text, "checksums are in "+releases+"/SHA256SUMS")
}

func shell(m Method, real, text, note string) Advice {
	return Advice{Method: m, Executable: real, Command: []string{"sh", "-c", text}, Shell: text, Note: note}
}

// goBin returns the directory into which "go install" would put programs.
func (i Installation) goBin() string {
	if bin := i.Getenv("GOBIN"); bin != "" {
		return filepath.Clean(bin)
	}
	if paths := filepath.SplitList(i.Getenv("GOPATH")); len(paths) > 0 {
		return filepath.Join(paths[0], "bin")
	}
	return filepath.Join(i.Home, "go", "bin")
}

func (i Installation) isGoBin(dir string) bool {
	bin, err := filepath.EvalSymlinks(i.goBin())
	return err == nil && bin == dir
}

// isRelease reports whether the go command has stamped a released version, which
// only "go install module@version" does.
func isRelease(version string) bool {
	return strings.HasPrefix(version, "v") && !strings.Contains(version, "+dirty")
}

// checkout returns the root of the checkout of this program that dir is in, "" if
// it is in none. A repository of something else does not count, and neither does
// a copy of the source without a repository.
func checkout(dir string) string {
	for {
		_, err := os.Stat(filepath.Join(dir, ".git"))
		if err == nil && isOurModule(filepath.Join(dir, "go.mod")) {
			return dir
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

func isOurModule(goMod string) bool {
	data, err := os.ReadFile(goMod)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "module" {
			return strings.Trim(words[1], `"`) == module
		}
	}
	return false
}

func join(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

// quote makes one shell word of text.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-@=:+", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

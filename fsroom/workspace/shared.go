package workspace

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/talking-stick/tt/fsroom/code"
)

// A RoomFile is the file .talking-stick/room at the root of a workspace, which says how
// hosts that share the room call it:
//
//	room: acme/api
//	engine: acme
type RoomFile struct {
	Room   string // the room's name; "" for none
	Engine string // the alias of an engine; "" for none
}

// RoomFilePath returns the path of the file for a workspace's root.
func RoomFilePath(root string) string { return filepath.Join(root, ".talking-stick", "room") }

const maxRoomFile = 64 << 10

// ReadRoomFile reads the file of a workspace. A missing file is no error.
func ReadRoomFile(root string) (f RoomFile, err error) {
	path := RoomFilePath(root)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxRoomFile) {
		return f, badRoomFile(path, "it is no small regular file")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return f, badRoomFile(path, err.Error())
	}
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case key == "" && !ok:
		case ok && key == "room":
			f.Room = value
		case ok && key == "engine":
			f.Engine = value
		default:
			return f, badRoomFile(path, "a line is neither room: NAME nor engine: ALIAS")
		}
	}
	return f, nil
}

func badRoomFile(path, why string) error {
	return code.New(code.NoSharedIdentity, "%s cannot be used: %s", path, why).
		WithHint(`write it with "tt room name NAME"`).With("file", path)
}

// SharedName returns the name by which all hosts know the room of a workspace's root: the one
// given, else that of the file .talking-stick/room, else the origin URL of its git
// repository and the path of the root below its top level. Otherwise the error has the
// code no_shared_identity.
func SharedName(root, given string) (string, error) {
	if given != "" {
		return CheckSharedName(given)
	}
	f, err := ReadRoomFile(root)
	if err != nil {
		return "", err
	}
	if f.Room != "" {
		return CheckSharedName(f.Room)
	}
	for dir := range ancestors(root) {
		config := gitConfig(dir)
		if config == "" {
			continue
		}
		if name := NormalizeRemote(originURL(config)); name != "" {
			if below, err := filepath.Rel(dir, root); err == nil && below != "." {
				name += "/" + filepath.ToSlash(below)
			}
			return name, nil
		}
		break
	}
	return "", code.New(code.NoSharedIdentity, "no name for the room of %s that other hosts would know it by: no .talking-stick/room, and no git origin", root).
		WithHint(`give it one: "tt room name acme/api", or --room acme/api`).With("workspace_root", root)
}

// CheckSharedName returns a name of a room, or a usage error.
func CheckSharedName(name string) (string, error) {
	const longest = 200
	bad := name == "" || len(name) > longest || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/")
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		bad = bad || !letter && !strings.ContainsRune("-_./", r)
	}
	for _, part := range strings.Split(name, "/") {
		bad = bad || part == "" || part == "." || part == ".."
	}
	if bad {
		return "", code.New(code.Usage, "%.80q is no name for a room that hosts share", name).
			WithHint("a name is like acme/api: letters, digits, - _ . and single slashes, at most %d characters", longest)
	}
	return name, nil
}

// WithName returns the content of a room file with another name. Other lines stay.
func (f RoomFile) WithName(name string) string {
	text := "room: " + name + "\n"
	if f.Engine != "" {
		text += "engine: " + f.Engine + "\n"
	}
	return text
}

// gitConfig returns the path of the configuration of the repository whose top level is
// dir, "" if it is none. A worktree and a submodule have a file .git, which names the
// directory; a worktree's configuration is in the directory that commondir names.
func gitConfig(dir string) string {
	git := filepath.Join(dir, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		target, ok := strings.CutPrefix(firstLine(git), "gitdir:")
		if !ok {
			return ""
		}
		git = absoluteFrom(dir, strings.TrimSpace(target))
		if common := firstLine(filepath.Join(git, "commondir")); common != "" {
			git = absoluteFrom(git, common)
		}
	}
	return filepath.Join(git, "config")
}

func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// originURL returns the url of the remote origin in a git configuration.
func originURL(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	inOrigin := false
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "[") {
			inOrigin = strings.EqualFold(strings.ReplaceAll(line, " ", ""), `[remote"origin"]`)
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if inOrigin && ok && strings.EqualFold(strings.TrimSpace(key), "url") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// foldingHosts take a repository's name in upper and lower case for the same.
func foldingHosts() []string { return []string{"github.com", "gitlab.com", "bitbucket.org"} }

// NormalizeRemote returns one form for the ways to write the URL of a repository:
// git@github.com:Org/Repo.git, ssh://git@github.com:22/Org/Repo and
// https://github.com/org/repo are github.com/org/repo. It returns "" for what is no URL
// of another host, such as a path.
func NormalizeRemote(remote string) string {
	scheme, rest, hasScheme := strings.Cut(remote, "://")
	if hasScheme {
		if scheme == "file" {
			return ""
		}
	} else {
		// The short form of ssh: [USER@]HOST:PATH.
		host, path, ok := strings.Cut(remote, ":")
		if !ok || strings.Contains(host, "/") || len(host) < 2 {
			return ""
		}
		rest = host + "/" + strings.TrimPrefix(path, "/")
	}
	if i := strings.LastIndexByte(rest[:strings.IndexByte(rest+"/", '/')], '@'); i >= 0 {
		rest = rest[i+1:]
	}
	host, path, ok := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if !ok || host == "" || path == "" {
		return ""
	}
	for _, folding := range foldingHosts() {
		if host == folding {
			path = strings.ToLower(path)
		}
	}
	return host + "/" + path
}

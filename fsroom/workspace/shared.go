package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/gitfile"
	"github.com/talking-stick/tt/lockfile"
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

// ReadRoomFile reads the file of a workspace. A missing file is no error. A file that is
// not understood is one with the code no_shared_identity: agents that read it in different ways
// would be in different rooms.
func ReadRoomFile(root string) (f RoomFile, err error) {
	path := RoomFilePath(root)
	text, err := readRoomFile(path)
	if err != nil {
		return f, err
	}
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		key, value, ok := roomFileLine(line)
		switch {
		case !ok:
			return f, badRoomFile(path, "a line is neither room: NAME nor engine: ALIAS")
		case values[key] != "":
			return f, badRoomFile(path, key+": is there twice")
		}
		values[key] = value
	}
	return RoomFile{values["room"], values["engine"]}, nil
}

// roomFileLine returns the key and the value of a line, no key for an empty line or a comment.
func roomFileLine(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	key, value, ok = strings.Cut(line, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if key == "" {
		return "", "", !ok
	}
	return key, value, ok && (key == "room" || key == "engine")
}

// readRoomFile returns the content of a room file, "" if it is missing.
func readRoomFile(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return "", nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxRoomFile) {
		return "", badRoomFile(path, "it is no small regular file")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", badRoomFile(path, err.Error())
	}
	return strings.TrimPrefix(string(b), "\ufeff"), nil
}

func badRoomFile(path, why string) error {
	return code.New(code.NoSharedIdentity, "%s cannot be used: %s", path, why).
		WithHint(`write it with "tt room name NAME"`).With("file", path)
}

// WriteRoomName writes the name of the room to the file of a workspace, and returns what the
// file says then. Its other lines stay; those that are not understood become comments.
// The file is replaced as a whole.
func WriteRoomName(root, name string) (f RoomFile, err error) {
	if f.Room, err = CheckSharedName(name); err != nil {
		return f, err
	}
	path := RoomFilePath(root)
	text, err := readRoomFile(path)
	if err != nil {
		return f, err
	}
	b := []byte("room: " + name + "\n")
	for line := range strings.Lines(text) {
		key, value, ok := roomFileLine(line)
		switch {
		case key == "room" && ok, key == "engine" && f.Engine != "":
			continue
		case key == "engine" && ok:
			f.Engine = value
		case !ok:
			line = "# " + line
		}
		b = append(append(b, strings.TrimRight(line, "\r\n")...), '\n')
	}
	return f, replaceRoomFile(path, b)
}

func replaceRoomFile(path string, b []byte) error {
	dir := filepath.Dir(path)
	err := os.Mkdir(dir, 0o755)
	if info, look := os.Lstat(dir); look == nil && !info.IsDir() {
		return badRoomFile(path, dir+" is no directory")
	} else if look == nil {
		err = nil
	}
	if err == nil { // others may read it, as they may read the files of a repository
		err = lockfile.ReplaceWhen(func(file *os.File) error { return file.Chmod(0o644) }, path, b, dir)
	}
	if err != nil {
		return code.New(code.NoSharedIdentity, "%s cannot be written: %v", path, err).
			WithHint("write it where others check the workspace out, or say --room NAME").With("file", path).Because(err)
	}
	return nil
}

// Where the name of a shared room comes from.
const (
	FromFile = "file" // .talking-stick/room
	FromGit  = "git"  // the URL of origin
)

// ByID begins a name that is no name but the room_id of a room, for one whose name is not
// known.
const ByID = "@"

func isRoomID(id string) bool {
	return id != "" && id[0] != '-' && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// SharedName returns the name by which all hosts know the room of a workspace's root: the one
// given, else that of the file .talking-stick/room, else the origin URL of its git
// repository and the path of the root below its top level. Otherwise the error has the
// code no_shared_identity.
func SharedName(root, given string) (string, error) {
	if id, ok := strings.CutPrefix(given, ByID); ok && isRoomID(id) {
		return given, nil
	}
	if given != "" {
		return CheckSharedName(given)
	}
	name, _, err := StoredName(root)
	return name, err
}

// StoredName is [SharedName] if none is given, and returns where it comes from too.
func StoredName(root string) (name, from string, err error) {
	f, err := ReadRoomFile(root)
	if err != nil {
		return "", "", err
	}
	if f.Room != "" {
		var bad *code.Error
		if name, err = CheckSharedName(f.Room); errors.As(err, &bad) {
			err = badRoomFile(RoomFilePath(root), bad.Message)
		}
		return name, FromFile, err
	}
	why := "no .talking-stick/room, and no git origin"
	for dir := range ancestors(root) {
		if !exists(filepath.Join(dir, ".git")) {
			continue
		}
		url := configured(gitfile.Common(gitfile.Dir(dir)), "remote", "origin", "url")
		if url == "" {
			break
		}
		if name = NormalizeRemote(url); name != "" {
			if below, err := filepath.Rel(dir, root); err == nil && below != "." {
				name += "/" + filepath.ToSlash(below)
			}
			return name, FromGit, nil
		}
		// The URL is not told: it may have a password.
		why = "no .talking-stick/room, and git's origin is at no URL that other hosts could have"
		break
	}
	return "", "", code.New(code.NoSharedIdentity, "no name for the room of %s that other hosts would know it by: %s", root, why).
		WithHint(`give it one: "tt room name acme/api", or --room acme/api`).With("workspace_root", root)
}

// CheckSharedName returns a name of a room, or a usage error.
func CheckSharedName(name string) (string, error) {
	const longest = 200
	bad := name == "" || len(name) > longest
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		bad = bad || !letter && !strings.ContainsRune("-_.~+/", r)
	}
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part == "." || part == ".."
	}
	if bad {
		return "", code.New(code.Usage, "%.80q is no name for a room that hosts share", name).
			WithHint("a name is like acme/api: letters, digits, - _ . ~ + and single slashes, at most %d characters", longest)
	}
	return name, nil
}

// configured returns the first value of a key in a git configuration, in the section
// [section "name"], or [section] if name is empty: of several URLs, git fetches from the first. Files
// that the configuration includes are not read, and what it says of other forms of a URL is not
// applied: both differ from host to host.
func configured(git, section, name, key string) (found string) {
	if git == "" {
		return ""
	}
	gitfile.Config(filepath.Join(git, "config"), func(s, n, k, v string) {
		if found == "" && s == section && n == name && k == key {
			found = v
		}
	})
	return found
}

// oneHost returns the name of the host for those that are another way to it: for ssh where
// only the port of https is open.
func oneHost(host string) string {
	switch host {
	case "ssh.github.com", "www.github.com":
		return "github.com"
	case "altssh.gitlab.com":
		return "gitlab.com"
	case "altssh.bitbucket.org":
		return "bitbucket.org"
	}
	return host
}

// folds reports whether a host takes names of repositories in upper and lower case for the
// same.
func folds(host string) bool {
	return host == "github.com" || host == "gitlab.com" || host == "bitbucket.org"
}

// NormalizeRemote returns one form for the ways to write the URL of a repository:
// git@github.com:Org/Repo.git, ssh://git@github.com:22/Org/Repo and
// https://github.com/org/repo are github.com/org/repo. It returns "" for what is no URL
// of another host, such as a path. Users, passwords and ports are left out.
func NormalizeRemote(remote string) string {
	scheme, rest, hasScheme := strings.Cut(remote, "://")
	switch strings.ToLower(scheme) {
	case "ssh", "git", "http", "https", "git+ssh", "ssh+git", "ftp", "ftps":
	default:
		if hasScheme {
			return ""
		}
		rest = remote
	}
	split := "/"
	if !hasScheme {
		split = ":" // the short form of ssh: [USER@]HOST:PATH
	}
	authority, path, ok := strings.Cut(rest, split)
	if !ok || !hasScheme && strings.ContainsAny(authority, `/\`) {
		return ""
	}
	host := hostOf(authority[strings.LastIndexByte(authority, '@')+1:])
	path = strings.Trim(path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, ".git"), "/")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(host) < 2 || path == "" { // one letter is a drive, as git has it
		return ""
	}
	if host = oneHost(host); folds(host) {
		path = strings.ToLower(path)
	}
	name, err := CheckSharedName(host + "/" + path)
	if err != nil {
		return "" // it may have a password in the wrong place
	}
	return name
}

// hostOf returns the name of a host from HOST[:PORT], "" if it is none: a number of IPv6 is not.
func hostOf(s string) string {
	name, port, ok := strings.Cut(strings.ToLower(s), ":")
	name = strings.TrimSuffix(name, ".")
	if ok && strings.Trim(port, "0123456789") != "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return ""
	}
	return name
}

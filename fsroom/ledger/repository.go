package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/talking-stick/tt/fsroom/gitfile"
)

// A repository is the git repository that a directory is in. It is only read.
type repository struct {
	top    string // the work tree
	gitDir string // of this work tree
	common string // of all work trees: objects, references, info
	config gitConfig
}

// A gitConfig has the few settings that matter here.
type gitConfig struct {
	excludesFile string
	ignoreCase   bool
	noModes      bool // modes of files are not looked at
	convertsEnds bool // of lines, in all files
	otherHash    bool // its object ids are not SHA-1
	filters      bool // of the user's choice store some files as something else
}

// findRepository returns the repository that dir is in, nil if it is in none.
func findRepository(dir, home string) *repository {
	for top := dir; ; top = filepath.Dir(top) {
		if r := openRepository(top, home); r != nil {
			return r
		}
		if top == filepath.Dir(top) {
			return nil
		}
	}
}

// openRepository returns the repository whose work tree has its top at the directory.
func openRepository(top, home string) *repository {
	git := gitfile.Dir(top)
	if git == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(git, "HEAD")); err != nil {
		return nil
	}
	r := &repository{top: top, gitDir: git, common: gitfile.Common(git)}
	if home != "" {
		config := os.Getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(home, ".config")
		}
		r.config.excludesFile = filepath.Join(config, "git", "ignore")
		users := []string{filepath.Join(config, "git", "config"), filepath.Join(home, ".gitconfig")}
		if path, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
			users = []string{path}
		}
		for _, path := range users {
			r.readConfig(path, home, 0)
		}
	}
	r.readConfig(filepath.Join(r.common, "config"), home, 0)
	r.readConfig(filepath.Join(r.gitDir, "config.worktree"), home, 0)
	return r
}

// readConfig reads the settings of a file, and of those that it includes; if on a condition, only if that is a directory.
func (r *repository) readConfig(path, home string, depth int) {
	if depth > 10 {
		return
	}
	expand := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			return filepath.Join(home, rest)
		}
		return path
	}
	c := &r.config
	gitfile.Config(path, func(section, name, key, value string) {
		switch section + "." + key {
		case "core.excludesfile":
			c.excludesFile = expand(value)
		case "core.ignorecase":
			c.ignoreCase = value == "" || strings.EqualFold(value, "true")
		case "core.filemode":
			c.noModes = strings.EqualFold(value, "false")
		case "core.autocrlf":
			c.convertsEnds = !strings.EqualFold(value, "false")
		case "filter.clean":
			c.filters = c.filters || name != "lfs"
		case "extensions.objectformat":
			c.otherHash = !strings.EqualFold(value, "sha1")
		case "include.path", "includeif.path":
			dir, isDir := strings.CutPrefix(name, "gitdir:")
			here := filepath.Dir(path)
			if section == "include" || isDir && strings.HasPrefix(r.gitDir+"/", gitfile.Absolute(expand(dir), here)+"/") {
				r.readConfig(gitfile.Absolute(expand(value), here), home, depth+1)
			}
		}
	})
}

// rules returns what the repository tracks, and the rules that are in none of the tree's own files.
func (r *repository) rules() (what *rules, err error) {
	what = &rules{fold: r.config.ignoreCase}
	idSize := len(ID{})
	if r.config.otherHash {
		idSize = 32
	}
	if what.tracked, err = readIndex(r.gitDir, idSize); err != nil {
		return nil, err
	}
	for _, file := range []string{r.config.excludesFile, filepath.Join(r.common, "info", "exclude")} {
		if b, err := gitfile.Read(file); file != "" && err == nil {
			what = what.with("", string(b))
		}
	}
	return what, nil
}

// objectDirs returns the directories that have objects of the repository, with those that it borrows from.
func (r *repository) objectDirs() (dirs []string) {
	if r.config.otherHash {
		return nil
	}
	dirs = append(dirs, filepath.Join(r.common, "objects"))
	for i := 0; i < len(dirs) && i < 16; i++ {
		b, err := gitfile.Read(filepath.Join(dirs[i], "info", "alternates"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			if dir := gitfile.Absolute(line, dirs[i]); line != "" && line[0] != '#' && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// A Head is where a repository's HEAD points. It is zero outside of a repository.
type Head struct {
	Commit ID     `json:"commit,omitzero"`  // zero before the first commit
	Branch string `json:"branch,omitempty"` // "" if no branch is checked out
}

// head reads HEAD.
func (r *repository) head() (h Head) {
	if r == nil {
		return h
	}
	b, err := gitfile.Read(filepath.Join(r.gitDir, "HEAD"))
	if err != nil {
		return h
	}
	name := strings.TrimSpace(string(b))
	for range 5 { // symbolic references
		ref, ok := strings.CutPrefix(name, "ref:")
		if !ok {
			h.Commit, _ = ParseID(name)
			return h
		}
		ref = strings.TrimSpace(ref)
		if h.Branch == "" {
			h.Branch = strings.TrimPrefix(ref, "refs/heads/")
		}
		name = r.reference(ref)
	}
	return h
}

// reference returns the content of a reference, "" if there is none.
func (r *repository) reference(ref string) string {
	if !filepath.IsLocal(filepath.FromSlash(ref)) {
		return ""
	}
	for _, dir := range []string{r.gitDir, r.common} {
		if b, err := gitfile.Read(filepath.Join(dir, filepath.FromSlash(ref))); err == nil {
			return strings.TrimSpace(string(b))
		}
	}
	packed, _ := os.ReadFile(filepath.Join(r.common, "packed-refs"))
	for line := range bytes.Lines(packed) {
		if id, name, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(name) == ref {
			return string(id)
		}
	}
	return ""
}

// A headChange is a line of a reference's log.
type headChange struct {
	from, to ID
	at       int64  // seconds
	what     string // "commit", "reset", "checkout" and the like
	end      int64  // bytes of the log until after this line
}

// isCommit reports whether HEAD moved because somebody made a commit, also of what another one has.
func (c *headChange) isCommit() bool {
	what, _, _ := strings.Cut(c.what, " ")
	return slices.Contains([]string{"commit", "cherry-pick", "revert", "am"}, what)
}

func (r *repository) headLog() string { return filepath.Join(r.gitDir, "logs", "HEAD") }

// fileSize returns how many bytes a file has, 0 if there is none.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// readLog reads the end of a log, oldest first. It is empty where git keeps none.
func readLog(path string) (all []headChange) {
	const most = 256 << 10
	b, _, err := readEnd(path, most)
	if err != nil {
		return nil
	}
	end := fileSize(path) - int64(len(b))
	for line := range bytes.Lines(b) {
		end += int64(len(line))
		head, message, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		f := strings.Fields(head)
		if len(f) < 4 {
			continue
		}
		from, err1 := ParseID(f[0])
		to, err2 := ParseID(f[1])
		at, err3 := strconv.ParseInt(f[len(f)-2], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		what, _, _ := strings.Cut(message, ":")
		all = append(all, headChange{from, to, at, what, end})
	}
	return all
}

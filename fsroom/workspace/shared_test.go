package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/workspace"
)

func TestNormalizeRemote(t *testing.T) {
	const repo = "github.com/org/repo"
	for url, want := range map[string]string{
		"git@github.com:Org/Repo.git":                       repo,
		"ssh://git@github.com/Org/Repo.git":                 repo,
		"ssh://git@github.com:22/Org/Repo":                  repo,
		"SSH://git@GitHub.com/Org/Repo":                     repo,
		"https://github.com/org/repo":                       repo,
		"https://github.com/org/repo/":                      repo,
		"https://github.com/org/repo.git/":                  repo,
		"https://github.com//org//repo.git":                 repo,
		"https://github.com.:443/org/repo":                  repo,
		"https://www.github.com/org/repo":                   repo,
		"ssh://git@ssh.github.com:443/org/repo.git":         repo,
		"git://github.com/org/repo.git":                     repo,
		"git+ssh://git@github.com/org/repo":                 repo,
		"github.com:org/repo":                               repo,
		"https://user@github.com/org/repo":                  repo,
		"https://user:secret@github.com/org/repo.git":       repo,
		"https://user:s%40cret@github.com/org/repo.git":     repo,
		"https://x-access-token:secret@github.com/org/repo": repo,
		"https://user:se@cret@github.com/org/repo":          repo,

		"git@gitlab.com:A/B/C.git":              "gitlab.com/a/b/c",
		"altssh.gitlab.com:A/B":                 "gitlab.com/a/b",
		"https://bitbucket.org/A/B":             "bitbucket.org/a/b",
		"https://Git.Example.org:8443/Org/Repo": "git.example.org/Org/Repo",
		"https://git.sr.ht/~who/repo":           "git.sr.ht/~who/repo",
		"ssh://git@[2001:db8::1]:2222/a/b.git":  "",
		"ssh://git@[fe80::1%eth0]/a/b":          "",
		"git@[::1]:a/b":                         "",
		"10.0.0.1:a/b":                          "10.0.0.1/a/b",
		"host:repo":                             "host/repo",

		// Nothing that another host could have.
		"":                         "",
		"/srv/git/repo.git":        "",
		"./repo":                   "",
		"../repo":                  "",
		"~/repo":                   "",
		"repo":                     "",
		"./a:b":                    "",
		"/srv/a:b/c":               "",
		"file:///srv/git/repo.git": "",
		"FILE:///srv/git/repo.git": "",
		`C:\git\repo`:              "",
		"C:/git/repo":              "",
		"c:repo":                   "",
		`\\server\share\repo`:      "",
		`a\b:c`:                    "",
		"ext::sh -c evil":          "",
		"codecommit::eu://repo":    "",
		"https://":                 "",
		"https://github.com":       "",
		"https://github.com/":      "",
		"https://github.com/.git":  "",
		"https:///org/repo":        "",
		"host:":                    "",
		":org/repo":                "",

		// Hostile.
		"https://github.com/../../etc":           "",
		"https://github.com/org/./repo":          "",
		"https://github.com/org/re po":           "",
		"https://github.com/org/re\x1b[2Jpo":     "",
		"https://github.com/org/re\npo":          "",
		"https://github.com/org/re\x00po":        "",
		"https://[::1/org/repo":                  "",
		"https://[]/org/repo":                    "",
		"https://[::1]x/org/repo":                "",
		"https://[evil.example]/org/repo":        "",
		"https://host:port/org/repo":             "",
		"]@[":                                    "",
		"https://h/" + strings.Repeat("x", 1000): "",

		// A password that is not where it should be ends in no name.
		"https://user:se/cret@github.com/org/repo":  "",
		"https://user:123/cret@github.com/org/repo": "",
		"user:secret@github.com:org/repo":           "",
		"user:secret@github.com/org/repo":           "",
	} {
		if got := workspace.NormalizeRemote(url); got != want {
			t.Errorf("NormalizeRemote(%q) = %q, want %q", url, got, want)
		}
	}
}

// Whatever a URL is, its normal form is a name, and its password is not in it.
func FuzzNormalizeRemote(f *testing.F) {
	for _, s := range []string{"https://user:p4ssw0rd@host/a/b", "user:p4ssw0rd@host:a", "[::1]:a", "ssh://p4ssw0rd@[::1]:1/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := workspace.NormalizeRemote(s)
		if name == "" {
			return
		}
		if _, err := workspace.CheckSharedName(name); err != nil {
			t.Errorf("NormalizeRemote(%q) = %q: %v", s, name, err)
		}
	})
}

func TestSharedNames(t *testing.T) {
	for name, good := range map[string]bool{
		"acme/api": true, "api": true, "a.b/c-d_e": true, "x/~me/c++": true, ".github": true, strings.Repeat("a", 200): true,
		"": false, "/": false, "/a": false, "a/": false, "a//b": false, "..": false, "a/../b": false, "a/./b": false, ".": false,
		"a b": false, "a\x00": false, "a\n": false, "a\x1b[2J": false, "ä": false, "a:b": false, `a\b`: false, "a@b": false,
		"nats://host/a": false, "*": false, ">": false, strings.Repeat("a", 201): false,
	} {
		got, err := workspace.CheckSharedName(name)
		if good && (err != nil || got != name) || !good && code.Of(err) != code.Usage {
			t.Errorf("CheckSharedName(%q) = %q, %v", name, got, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b\n") {
			t.Errorf("the error has raw control characters: %q", err)
		}
	}
}

// files makes files in a new directory. A name that ends in / is a directory.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(strings.ReplaceAll(text, "$DIR", dir)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const origin = "[remote \"origin\"]\n\turl = git@github.com:Org/Repo.git\n"

func TestWhereSharedNamesComeFrom(t *testing.T) {
	const repo = "github.com/org/repo"
	for name, test := range map[string]struct {
		files map[string]string
		at    string // the workspace's root below the tree
		want  string // "": no_shared_identity
		from  string
	}{
		"nothing":                    {map[string]string{"go.mod": ""}, ".", "", ""},
		"a repository":               {map[string]string{".git/config": origin}, ".", repo, workspace.FromGit},
		"below its top level":        {map[string]string{".git/config": origin, "a/b/": ""}, "a/b", repo + "/a/b", workspace.FromGit},
		"a worktree":                 {map[string]string{"r/.git/config": origin, "r/.git/worktrees/w/commondir": "../..\n", "w/.git": "gitdir: $DIR/r/.git/worktrees/w\n"}, "w", repo, workspace.FromGit},
		"a submodule":                {map[string]string{".git/config": origin, ".git/modules/s/config": "[remote \"origin\"]\nurl = https://example.org/s\n", "s/.git": "gitdir: ../.git/modules/s\n"}, "s", "example.org/s", workspace.FromGit},
		"no origin":                  {map[string]string{".git/config": "[remote \"upstream\"]\nurl = https://example.org/x\n"}, ".", "", ""},
		"no origin inside of one":    {map[string]string{".git/config": origin, "s/.git/config": "[core]\n"}, "s", "", ""},
		"a broken one inside of one": {map[string]string{".git/config": origin, "s/.git": "gitdir of nothing\n"}, "s", "", ""},
		"a worktree that is gone":    {map[string]string{"w/.git": "gitdir: /nowhere/.git/worktrees/w\n"}, "w", "", ""},
		"bare":                       {map[string]string{"HEAD": "ref: refs/heads/main\n", "config": origin}, ".", "", ""},
		"a local origin":             {map[string]string{".git/config": "[remote \"origin\"]\nurl = /srv/git/x.git\n"}, ".", "", ""},
		"the file wins, as in forks": {map[string]string{".git/config": origin, ".talking-stick/room": "room: acme/api\n"}, ".", "acme/api", workspace.FromFile},
		"a file without a name":      {map[string]string{".git/config": origin, ".talking-stick/room": "engine: acme\n"}, ".", repo, workspace.FromGit},
		"a bad name in the file":     {map[string]string{".git/config": origin, ".talking-stick/room": "room: ../../etc\n"}, ".", "", ""},

		"includes are ignored": {map[string]string{".git/config": "[include]\npath = other\n" + origin, ".git/other": "[remote \"origin\"]\nurl = https://evil.example/x\n"}, ".", repo, workspace.FromGit},
		"insteadOf is ignored": {map[string]string{".git/config": "[url \"https://evil.example/\"]\ninsteadOf = git@github.com:\n" + origin}, ".", repo, workspace.FromGit},
		"another case":         {map[string]string{".git/config": "[REMOTE  \"origin\"]\nURL=https://github.com/org/repo\n"}, ".", repo, workspace.FromGit},
		"another remote":       {map[string]string{".git/config": "[remote \"Origin\"]\nurl = https://example.org/x\n"}, ".", "", ""},
		"an old header":        {map[string]string{".git/config": "[remote.origin]\nurl = https://github.com/org/repo\n"}, ".", repo, workspace.FromGit},
		"one line":             {map[string]string{".git/config": "[remote \"origin\"] url = https://github.com/org/repo\n"}, ".", repo, workspace.FromGit},
		"quotes and comments":  {map[string]string{".git/config": "[remote \"origin\"] # ours\n; url = x\n# url = y\nurl = \"https://github.com/org/repo\" ; moved\n"}, ".", repo, workspace.FromGit},
		"the first URL counts": {map[string]string{".git/config": origin + "url = https://example.org/x\n"}, ".", repo, workspace.FromGit},
		"push URLs do not":     {map[string]string{".git/config": "[remote \"origin\"]\npushurl = https://example.org/x\nurl = https://github.com/org/repo\n"}, ".", repo, workspace.FromGit},
		"line ends of Windows": {map[string]string{".git/config": strings.ReplaceAll(origin, "\n", "\r\n")}, ".", repo, workspace.FromGit},
		"a huge configuration": {map[string]string{".git/config": origin + strings.Repeat("#", 2<<20)}, ".", "", ""},
		"no configuration":     {map[string]string{".git/config/": ""}, ".", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(files(t, test.files), test.at)
			got, from, err := workspace.StoredName(root)
			want := code.Code("")
			if test.want == "" {
				want = code.NoSharedIdentity
			}
			if err == nil && (got != test.want || from != test.from) || code.Of(err) != want {
				t.Errorf("%q from %q, %v; want %q from %q, %s", got, from, err, test.want, test.from, want)
			}
			if got, err := workspace.SharedName(root, "given/name"); got != "given/name" || err != nil {
				t.Errorf("with a name given: %q, %v", got, err)
			}
		})
	}
}

func TestPasswordsAreNotTold(t *testing.T) {
	for _, url := range []string{
		"https://user:s3cret@example.org/a/b", "https://user:x/s3cret@example.org/a/b", "user:s3cret@example.org:a/b",
		"https://user:s3cret@example.org/a b", "file://user:s3cret@/x", "https://s3cret@[::1/x", "ext::s3cret",
	} {
		root := files(t, map[string]string{".git/config": "[remote \"origin\"]\nurl = " + url + "\n"})
		name, _, err := workspace.StoredName(root)
		text := name
		if err != nil {
			text += err.Error()
		}
		if strings.Contains(text, "s3cret") {
			t.Errorf("%s: %q, %v", url, name, err)
		}
	}
}

func TestReadRoomFile(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want workspace.RoomFile
		bad  bool
	}{
		"empty":            {"", workspace.RoomFile{}, false},
		"a room":           {"room: acme/api\n", workspace.RoomFile{Room: "acme/api"}, false},
		"both":             {"room: acme/api\nengine: acme\n", workspace.RoomFile{Room: "acme/api", Engine: "acme"}, false},
		"no line end":      {"engine: acme", workspace.RoomFile{Engine: "acme"}, false},
		"Windows":          {"\ufeffroom: acme/api\r\nengine:acme\r\n", workspace.RoomFile{Room: "acme/api", Engine: "acme"}, false},
		"comments":         {"# ours\n\n  room: acme/api # here\n", workspace.RoomFile{Room: "acme/api"}, false},
		"an unknown key":   {"room: acme/api\nenigne: acme\n", workspace.RoomFile{}, true},
		"no key":           {"acme/api\n", workspace.RoomFile{}, true},
		"an empty key":     {": acme/api\n", workspace.RoomFile{}, true},
		"twice":            {"room: a\nroom: b\n", workspace.RoomFile{}, true},
		"NUL":              {"room: a\n\x00\x00\n", workspace.RoomFile{}, true},
		"huge":             {"room: a\n" + strings.Repeat("# \n", 64<<10), workspace.RoomFile{}, true},
		"something binary": {"\x7fELF\x02\x01", workspace.RoomFile{}, true},
	} {
		got, err := workspace.ReadRoomFile(files(t, map[string]string{".talking-stick/room": test.text}))
		if test.bad != (code.Of(err) == code.NoSharedIdentity) || !test.bad && (err != nil || got != test.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRoomFilesThatAreNone(t *testing.T) {
	// Something else of the name is no room file, and no error.
	for _, all := range []map[string]string{{}, {".talking-stick/": ""}, {".talking-stick": "something else"}} {
		if f, err := workspace.ReadRoomFile(files(t, all)); err != nil || f != (workspace.RoomFile{}) {
			t.Errorf("%v: %+v, %v", all, f, err)
		}
	}
	if f, err := workspace.ReadRoomFile(files(t, map[string]string{".talking-stick/room/": ""})); code.Of(err) != code.NoSharedIdentity {
		t.Errorf("a directory: %+v, %v", f, err)
	}
	if f, err := workspace.ReadRoomFile("/" + strings.Repeat("a/", 3000)); err != nil {
		t.Errorf("a path longer than the system takes: %+v, %v", f, err)
	}
	root := files(t, map[string]string{"secret": "room: a/b\n", ".talking-stick/": ""})
	if err := os.Symlink(filepath.Join(root, "secret"), workspace.RoomFilePath(root)); err != nil {
		t.Fatal(err)
	}
	if f, err := workspace.ReadRoomFile(root); code.Of(err) != code.NoSharedIdentity {
		t.Errorf("a link: %+v, %v", f, err)
	}
	if _, err := workspace.WriteRoomName(root, "x/y"); code.Of(err) != code.NoSharedIdentity {
		t.Errorf("written through a link: %v", err)
	}
}

func TestWriteRoomName(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"new":           {"", "room: acme/api\n"},
		"another":       {"room: old\n", "room: acme/api\n"},
		"an engine":     {"engine: acme\nroom: old\n", "room: acme/api\nengine: acme\n"},
		"comments":      {"# ours\r\nroom: old # x\n\nengine: acme # of the team", "room: acme/api\n# ours\n\nengine: acme # of the team\n"},
		"what is wrong": {"room: a\nroom: b\nengine: x\nengine: y\nnonsense\n", "room: acme/api\nengine: x\n# nonsense\n"},
	} {
		all := map[string]string{}
		if test.before != "" {
			all[".talking-stick/room"] = test.before
		}
		root := files(t, all)
		f, err := workspace.WriteRoomName(root, "acme/api")
		if err != nil || f.Room != "acme/api" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		b, err := os.ReadFile(workspace.RoomFilePath(root))
		if err != nil || string(b) != test.after {
			t.Errorf("%s: %q, %v; want %q", name, b, err, test.after)
		}
		if again, err := workspace.ReadRoomFile(root); err != nil || again != f {
			t.Errorf("%s: %+v, %v, want %+v", name, again, err, f)
		}
		if entries, _ := os.ReadDir(filepath.Join(root, ".talking-stick")); len(entries) != 1 {
			t.Errorf("%s: %d files are left", name, len(entries))
		}
	}
	for _, name := range []string{"", "..", "a b", "a\nengine: evil"} {
		root := files(t, nil)
		if _, err := workspace.WriteRoomName(root, name); code.Of(err) != code.Usage {
			t.Errorf("%q: %v", name, err)
		}
		if entries, _ := os.ReadDir(root); len(entries) != 0 {
			t.Errorf("%q has written something", name)
		}
	}
}

// Every directory of a workspace has the same root, and so the same name, also where the
// room file is all that marks the root.
func TestSubdirectoriesAgreeOnTheName(t *testing.T) {
	for name, all := range map[string]map[string]string{
		"a repository": {".git/config": origin, "a/b/": "", "a/package.json": "", "a/.talking-stick/room": "room: another\n"},
		"a marker":     {"go.mod": "", "a/b/": ""},
		"nothing":      {"a/b/": ""},
	} {
		root := files(t, all)
		if _, err := workspace.WriteRoomName(root, "acme/api"); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{".", "a", "a/b"} {
			w, err := workspace.Locate(filepath.Join(root, at), root, "")
			if err != nil || w.Root != root {
				t.Errorf("%s: the root of %s is %+v, %v", name, at, w, err)
				continue
			}
			if got, err := workspace.SharedName(w.Root, ""); err != nil || got != "acme/api" {
				t.Errorf("%s: %s is %q, %v", name, at, got, err)
			}
		}
	}
}

// The chain of a shared workspace has names instead of directories, and nothing above its
// root: that differs from host to host.
func TestIdentities(t *testing.T) {
	w := &workspace.Workspace{Path: "/x/api/a/b", Root: "/x/api", Shared: "acme/api"}
	var got []string
	for _, dir := range w.Chain() {
		got = append(got, w.Identity(dir))
	}
	if want := "acme/api/a/b acme/api/a acme/api"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if above := w.Above(); above != nil {
		t.Errorf("above: %q", above)
	}
	w.Shared = ""
	if got := w.Identity("/x/api/a"); got != "/x/api/a" || len(w.Above()) != 2 {
		t.Errorf("a room of this host: %q, above %q", got, w.Above())
	}
}

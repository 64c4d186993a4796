//go:build unix

package ledger

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// converted makes a repository in which git stores no file as it is in the tree, with work in none. In a commit
// before its last, and in the branch other, it has each with other content.
func converted(t *testing.T, dir string) *fixture {
	f := newFixture(t)
	f.git("init", "-q", "-b", "main")
	f.git("config", "core.fileMode", "false")
	f.write(dir+".gitattributes", "*.bat text eol=crlf\n*.bin -text\n")
	lfs := func(content string) {
		pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(content)), len(content))
		f.write("pointer", pointer)
		f.git("update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(f.git("hash-object", "-w", "pointer"))+",l.bin")
		f.remove("pointer")
	}
	for _, content := range []string{"0", "1", "2"} {
		f.write(dir+"c.bat", content+"\n"+content+"\n", "m", content)
		f.git("add", dir+".gitattributes", dir+"c.bat", "m")
		lfs(content)
		f.git("commit", "-qm", content)
	}
	f.git("branch", "other", "HEAD~1")
	f.smudge(dir, "2")
	f.settled()
	return f
}

// smudge makes the files what a checkout makes them.
func (f *fixture) smudge(dir, content string) {
	f.write(dir+"c.bat", content+"\r\n"+content+"\r\n", "m", content, "l.bin", content)
	for _, name := range []string{dir + "c.bat", "m", "l.bin", dir + ".gitattributes"} {
		if err := os.Chmod(filepath.Join(f.root, name), 0o755); err != nil {
			f.Fatal(err)
		}
	}
}

// TestConvertedIsLost: work goes also where git has not the bytes, or the mode, that it puts in its place.
func TestConvertedIsLost(t *testing.T) {
	t.Parallel()
	for content, dir := range map[string]string{"2": "", "1": "d/", "0": ""} { // of HEAD, of other branches, of before
		f := converted(t, dir)
		f.write(dir+"c.bat", "work\r\n", "l.bin", "work", "m", "work")
		f.take(WhyStart, 1)
		f.smudge(dir, content)
		f.take(WhyTick, 1)
		f.lost()
		if got := f.content(dir+"c.bat") + f.content("l.bin") + f.content("m"); got != "work\r\nworkwork" {
			t.Errorf("%s: %q", content, got)
		}
	}
}

// TestConvertedIsGits: what git writes is no loss, no work of a turn, and not uncommitted.
func TestConvertedIsGits(t *testing.T) {
	t.Parallel()
	f := converted(t, "d/")
	from := f.take(WhyStart, 1)
	f.git("switch", "-q", "-f", "other")
	f.smudge("d/", "1")
	to := f.take(WhyEnd, 1)
	if out := f.lost(); out.Plan.Lost != nil {
		t.Errorf("lost: %+v", out.Plan)
	}
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	p, err := v.PlanUndo(from, to, nil)
	if n := v.uncommitted(to); err != nil || n != 0 || len(p.Steps) > 0 {
		t.Errorf("%d uncommitted, undo: %+v, %v", n, p, err)
	}
	git := Git{
		Index:  func(string) (string, error) { return f.git("ls-files", "-t", "--stage", "-z"), nil },
		Staged: func([]string) []string { return nil },
	}
	if d, err := v.Unstaged(git); err != nil || len(d.Paths) != 2 { // of contents git is asked
		t.Errorf("unstaged: %+v, %v", d, err)
	}
}

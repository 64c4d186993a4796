//go:build unix

package ledger

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// repository makes a repository with a branch and uncommitted work.
func (f *fixture) repository() {
	f.shell("git init -q -b main .; for i in 1 2 3; do echo $i > f$i; done; mkdir d; echo a > d/a; echo b > d/b; git add -A; git commit -qm 1; " +
		"git branch other; echo x >> f1; git commit -qam 2")
}

// TestCommitIsPutAway: what git moved with HEAD is in a commit, and no loss beside one.
func TestCommitIsPutAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	for _, name := range []string{"a.txt", "feat.txt"} {
		f.write(name, name)
		f.git("add", "-A")
		f.git("commit", "-qm", name)
	}
	f.write("a.txt", "uncommitted")
	f.take(WhyStart, 1)
	f.git("reset", "-q", "--hard", "HEAD~1")
	if steps := f.lost().Plan.Steps; len(steps) != 1 || steps[0].Path != "a.txt" || f.content("a.txt") != "uncommitted" {
		t.Errorf("%+v", steps)
	}
}

// TestEmptyFile: a new file without content comes back where nothing else went, unless it was moved; it is no lost work.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repository()
	f.write("d/a", "work", "other", "")
	f.take(WhyStart, 1)
	f.git("checkout", "-q", "d/a")
	f.write("empty", "")
	f.take(WhyEnd, 1)
	f.remove("empty")
	f.remove("f1")
	if out := f.lost(); len(out.Plan.Steps) != 1 || f.content("d/a") != "work" {
		t.Errorf("beside work: %+v", out.Plan)
	}
	f.write("f1", "1\nx\n", "empty", "")
	f.take(WhyEnd, 2)
	f.remove("empty")
	f.remove("f1")
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if n, _, err := v.LostNow(); n != 0 || err != nil {
		t.Errorf("%d files are lost work, %v", n, err)
	}
	if out := f.lost(); len(out.Plan.Steps) != 1 || f.content("empty") != "" {
		t.Errorf("alone: %+v", out.Plan)
	}
	f.write("f1", "1\nx\n")
	f.take(WhyEnd, 3)
	f.rename("empty", "moved")
	if out := f.lost(); len(out.Plan.Steps) != 0 {
		t.Errorf("moved: %+v", out.Plan)
	}
}

// TestOlderCommit: work that is as an older commit has it goes like any other.
func TestOlderCommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.shell("export GIT_COMMITTER_DATE=2020-01-01T00:00:00Z; git init -q .; echo one > a.txt; git add -A; git commit -qm 1; echo two > a.txt; git commit -qam 2")
	f.write("a.txt", "one\n")
	f.take(WhyStart, 1)
	f.git("reset", "-q", "--hard")
	if out := f.lost(); len(out.Plan.Steps) != 1 || f.content("a.txt") != "one\n" {
		t.Errorf("%+v", out.Plan)
	}
}

// TestStagedSecret: a secret that was staged is recorded, and comes back where nothing has its name.
func TestStagedSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repository()
	f.write(".env", "SECRET", "sub/.env", "ANOTHER")
	f.git("add", "-A")
	f.take(WhyGuard, 0)
	f.git("reset", "-q", "--hard")
	f.write("sub/.env", "new")
	if out := f.lost(); f.content(".env") != "SECRET" || f.content("sub/.env") != "new" {
		t.Errorf("%+v", out.Plan)
	}
}

// TestLossInSubmodule: a submodule has commits, a HEAD and a stash of its own.
func TestLossInSubmodule(t *testing.T) {
	for command, want := range map[string]string{
		"git -C sub checkout -q .":                              "sub/d/a",
		"git -C sub reset -q --hard HEAD~1":                     "sub/d/a",
		"git submodule -q update -f":                            "sub/d/a",
		"rm sub/d/a":                                            "sub/d/a",
		"git -C sub commit -qam w; git submodule -q update":     "",
		"git -C sub stash -q":                                   "",
		"git -C sub stash -q; git -C sub stash drop -q":         "sub/d/a",
		"git -C sub checkout -q HEAD~1 -- f1":                   "",
		"git -C sub commit -qam w; git -C sub checkout -q @{1}": "",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.shell("mkdir ../of")
			tree := f.root
			f.root = tree + "/../of"
			f.repository()
			f.root = tree
			f.shell("git init -q .; git -c protocol.file.allow=always submodule --quiet add ../of sub; git commit -qm 1")
			f.settled()
			f.take(WhyStart, 1)
			f.write("sub/d/a", "work\n")
			f.take(WhyGuard, 1)
			f.settled()
			f.shell(command)
			var paths []string
			for _, s := range f.lost().Plan.Steps {
				paths = append(paths, s.Path)
			}
			if got := strings.Join(paths, " "); got != want {
				t.Errorf("comes back %q, want %q", got, want)
			}
		})
	}
}

// TestLosses: what --lost brings back, judged by what went.
func TestLosses(t *testing.T) {
	tests := map[string]struct {
		commands []string // a snapshot is taken before the first and after each
		want     string   // paths that come back
		kept     string   // path:why
	}{
		"in the middle of a turn": {[]string{"echo w >> f2; echo n > new", "git reset -q --hard; git clean -fdq"}, "f2 new", ""},
		"reset over work":         {[]string{"echo w >> f2", "git reset -q --hard HEAD~1"}, "f2", ""},
		"committed, then put away": {[]string{"echo w >> f2; echo n > new", "git add -A; git commit -qm w; git reset -q --hard HEAD~1"},
			"", ""},
		"committed, switched":         {[]string{"echo w >> f2", "git commit -qam w; git switch -q other"}, "", ""},
		"stashed":                     {[]string{"echo w >> f2; echo n > new", "git stash -qu"}, "", "f2:stashed new:stashed"},
		"stashed and dropped":         {[]string{"echo w >> f2; echo n > new", "git stash -qu; git stash drop -q"}, "f2 new", ""},
		"a mode":                      {[]string{"chmod +x f3; echo w >> f2", "git checkout -q ."}, "f2 f3", ""},
		"a mode alone":                {[]string{"chmod +x f3", "git checkout -q ."}, "f3", ""},
		"a mode of work":              {[]string{"echo w >> f2", "chmod +x f2"}, "", ""},
		"a file by a link":            {[]string{"echo w >> f2", "ln -sf f1 f2"}, "f2", ""},
		"a link by a file":            {[]string{"ln -s nowhere l", "rm l; echo x > l"}, "", ""},
		"a link by a file, and work":  {[]string{"ln -s nowhere l; echo w >> f2", "rm l; echo x > l; git checkout -q f2"}, "f2", "l:new_content"},
		"a link of git's by a file":   {[]string{"ln -s nowhere l; git add l; git commit -qm l; echo n > new", "rm l new; echo x > l"}, "new", "l:new_content"},
		"a link by an empty file":     {[]string{"ln -s nowhere l", "rm l; : > l"}, "l", ""},
		"a directory by a link":       {[]string{"echo w >> d/a; echo n > d/n", "rm -r d; ln -s /tmp d"}, "", "d/a:in_the_way d/b:in_the_way d/n:in_the_way"},
		"a directory by a file":       {[]string{"echo w >> d/a", "rm -r d; echo x > d"}, "", "d/a:in_the_way d/b:in_the_way"},
		"a file by a directory":       {[]string{"echo w >> f2", "rm f2; mkdir f2; echo in > f2/x"}, "", "f2:in_the_way"},
		"a file by an empty one":      {[]string{"echo w >> f2", "rm f2; mkdir f2"}, "f2", ""},
		"work, and a loss before it":  {[]string{"echo w >> f2", "git checkout -q .", "echo v >> f3"}, "f2", ""},
		"written anew":                {[]string{"echo w >> f2", "git checkout -q .; echo other >> f2"}, "", ""},
		"two losses: the newest":      {[]string{"echo w >> f2; echo v >> f3", "git checkout -q f2", "git checkout -q f3"}, "f3", ""},
		"deleted and committed":       {[]string{"git rm -q f2; git commit -qm r"}, "", ""},
		"a rebase with uncommitted":   {[]string{"echo w >> f2; echo n > new", "git stash -qu; git stash drop -q; git rebase -q other"}, "f2 new", ""},
		"moved with what is in it":    {[]string{"echo n > d/n", "mv d e"}, "", ""},
		"filled in by other content":  {[]string{"echo n > new", "echo m > new"}, "", ""},
		"emptied":                     {[]string{"echo n > new", ": > new"}, "new", ""},
		"what was empty":              {[]string{": > new", "rm new"}, "new", ""},
		"untracked, then committed":   {[]string{"echo n > new", "git add new; git commit -qm n; rm new"}, "", ""},
		"untracked, ignored and gone": {[]string{"echo n > new", "echo new > .gitignore; rm new"}, "", "new:ignored"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.repository()
			f.take(WhyStart, 1)
			for i, c := range tt.commands {
				f.settled()
				f.shell(c)
				if i < len(tt.commands)-1 {
					f.take(WhyGuard, 1)
				}
			}
			v, err := f.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			p, err := v.PlanLost(nil)
			if err != nil {
				t.Fatal(err)
			}
			var paths, kept []string
			for _, s := range p.Steps {
				paths = append(paths, s.Path)
			}
			for _, k := range p.Kept {
				kept = append(kept, k.Path+":"+k.Why)
			}
			if got := strings.Join(paths, " "); got != tt.want {
				t.Errorf("comes back %q, want %q", got, tt.want)
			}
			if got := strings.Join(kept, " "); got != tt.kept {
				t.Errorf("kept %q, want %q", got, tt.kept)
			}
			if back := len(paths) + strings.Count(tt.kept, "way"); p.Went() != back || (p.Lost != nil) != (tt.want != "" || strings.Contains(tt.kept, "way") || strings.Contains(tt.kept, "ignored")) {
				t.Errorf("%d went after %v", p.Went(), p.Lost)
			}
		})
	}
}

// TestOwnActsAreNoLoss: what an undo or a restore has taken away is no loss, and what was lost before it still is.
func TestOwnActsAreNoLoss(t *testing.T) {
	f := newFixture(t)
	f.repository()
	f.write("work", "w\n")
	f.take(WhyStart, 1)
	f.write("bad", "b\n", "f2", "bad\n")
	f.take(WhyEnd, 1)
	if _, err := f.undo(1); err != nil {
		t.Fatal(err)
	}
	if out := f.lost(); len(out.Plan.Steps) > 0 {
		t.Errorf("what was undone is lost: %+v", out.Plan)
	}
	s := f.take(WhyPerson, 0)
	f.write("later", "l\n")
	f.restore(s, true)
	if out := f.lost(); len(out.Plan.Steps) > 0 {
		t.Errorf("what a restore removed is lost: %+v", out.Plan)
	}
	f.remove("work")
	f.take(WhyGuard, 1)
	f.write("more", "m\n")
	f.take(WhyEnd, 2)
	if out := f.lost(); len(out.Plan.Steps) != 1 || f.content("work") != "w\n" {
		t.Errorf("what went by nobody's wish does not come back: %+v", out.Plan)
	}
}

// TestLossesByMoment: a beginning that is recorded late is no younger than what was recorded before it.
func TestLossesByMoment(t *testing.T) {
	f := newFixture(t)
	f.write("a", "1\n", "work", "w\n")
	f.take(WhyEnd, 1)
	moment := f.settled()
	f.write("b", "2\n")
	f.take(WhyGuard, 2)
	f.write("c", "3\n")
	if _, err := f.Take(t.Context(), Request{Why: WhyStart, Turn: 2, Moment: moment, Line: true}); err != nil {
		t.Fatal(err)
	}
	if out := f.lost(); len(out.Plan.Steps) > 0 {
		t.Errorf("nothing was lost, but there is %+v", out.Plan)
	}
}

// TestTickCutsNoLoss: a loss that goes on while the tree is recorded by time is one.
func TestTickCutsNoLoss(t *testing.T) {
	f := newFixture(t)
	f.write("a", "1\n", "b", "2\n", "c", "3\n")
	f.take(WhyStart, 1)
	f.remove("a")
	f.take(WhyTick, 1)
	f.remove("b")
	f.take(WhyTick, 1)
	f.write("later", "x\n")
	if out := f.lost(); len(out.Plan.Steps) != 2 || f.content("a") != "1\n" || f.content("b") != "2\n" {
		t.Errorf("came back: %+v", out.Plan)
	}
}

// TestTickInTheMiddle: a file is lost also where it was recorded by time between its removal and its coming back as git
// has it.
func TestTickInTheMiddle(t *testing.T) {
	f := newFixture(t)
	f.repository()
	f.write("f2", "work\n", "new", "n\n")
	f.take(WhyStart, 1)
	f.remove("f2")
	f.take(WhyTick, 1)
	f.write("f2", "2\n")
	f.take(WhyTick, 1)
	f.remove("new")
	if out := f.lost(); len(out.Plan.Steps) != 2 || f.content("f2") != "work\n" || f.content("new") != "n\n" {
		t.Errorf("came back: %+v", out.Plan)
	}
}

// TestUndoTakesTheLastKnown: where the beginning of a turn was recorded late, an undo takes what a path was before
// from whichever snapshot has it.
func TestUndoTakesTheLastKnown(t *testing.T) {
	f := newFixture(t)
	f.write("a", "1\n", "b", "1\n")
	f.take(WhyFirst, 0)
	f.settled()
	f.write("a", "2\n")
	f.remove("b")
	at := time.Now()
	if _, err := f.Take(t.Context(), Request{Why: WhyStart, Turn: 1, Moment: at, Margin: time.Hour, Line: true}); err != nil {
		t.Fatal(err)
	}
	f.take(WhyEnd, 1)
	out, err := f.undo(1)
	if err != nil || len(out.Plan.Conflicts) > 0 || f.content("a") != "1\n" || f.content("b") != "1\n" {
		t.Errorf("%+v %v", out, err)
	}
}

// TestTicksWithinOneLoss: snapshots by time, taken while git replaces a file and before it removes another, are of one loss.
func TestTicksWithinOneLoss(t *testing.T) {
	t.Parallel()
	for _, begun := range []string{"missing", ""} {
		f := newFixture(t)
		f.git("init", "-q")
		f.write("a", "1")
		f.git("add", "-A")
		f.git("commit", "-q", "-m", "x")
		f.write("a", "work", "n", "new")
		f.take(WhyTick, 1)
		if f.remove("a"); begun == "" {
			f.write("a", begun)
		}
		f.take(WhyTick, 1)
		f.write("a", "1")
		f.take(WhyTick, 1)
		f.remove("n")
		if steps := f.lost().Plan.Steps; len(steps) != 2 {
			t.Errorf("%q: %+v", begun, steps)
		}
	}
}

// TestScanFiles: a snapshot of some files alone is the one that a whole scan makes if nothing else has changed, and
// what else has changed is in the next one.
func TestScanFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("a", "1", "d/b", "1", "d/c/x", "1", ".gitignore", "*.o\n", "i.o", "1", ".env", "1", "z", "1", "beside", "1")
	if err := os.Symlink("d", f.full("link")); err != nil {
		t.Fatal(err)
	}
	n := 1
	for _, x := range []struct {
		change func()
		files  []string
		whole  bool // the snapshot is of a whole scan
	}{
		{func() { f.write("d/c/x", "2") }, []string{"d/c/x"}, false},
		{func() { f.write("a", "3", "d/b", "3") }, []string{"a", "d/b", "missing", "new/x"}, false},
		{func() { _ = os.Chmod(f.full("a"), 0o700) }, []string{"a"}, false},
		{func() { _ = os.Chmod(f.full("a"), 0o644); f.write("a", "1") }, []string{"a"}, false},
		{func() { _ = os.Remove(f.full("a")) }, []string{"a"}, true},
		{func() {}, []string{"d/b", "d/missing", "new/deep/x"}, false},
		{func() { f.write("new", "1") }, []string{"new"}, true},
		{func() { f.write("d/b", "4") }, []string{"link/b"}, true},
		{func() { f.write("d/b", "5") }, []string{"d"}, true},
		{func() { f.write("d/b", "6") }, []string{"../store"}, true},
		{func() { f.write("d/b", "7") }, []string{"d/b", "d"}, true},
		{func() { f.git("commit", "-q", "--allow-empty", "-m", "x") }, []string{"a"}, true},
		{func() { _ = os.Remove(f.full("z")); _ = os.Symlink("a", f.full("z")) }, []string{"z"}, true},
		{func() { f.rename("d", "e"); _ = os.Symlink("e", f.full("d")) }, []string{"d/b"}, true},
	} {
		f.take(WhyTick, 1)
		x.change()
		n++
		f.write("beside", strconv.Itoa(n))
		var files []string
		for _, path := range x.files {
			files = append(files, f.full(path))
		}
		s, err := f.Take(t.Context(), Request{Why: WhyGuard, Turn: 1, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		next := f.take(WhyTick, 1)
		if s.Files != next.Files {
			t.Errorf("%q: %d files, a whole scan %d", x.files, s.Files, next.Files)
		}
		if whole := s.Tree == next.Tree; whole != x.whole {
			t.Errorf("%q: whole %v", x.files, whole)
		}
		f.write("beside", strconv.Itoa(n-1)) // as it was
		if again := f.take(WhyTick, 1); !x.whole && (again.Tree != s.Tree || again.Perm != s.Perm || !maps.Equal(again.Modes, s.Modes) ||
			!slices.Equal(again.LeftOut, s.LeftOut) || again.Ignored != s.Ignored) {
			t.Errorf("%q: %+v, a whole scan %+v", x.files, s, again)
		}
		f.write("beside", strconv.Itoa(n))
	}
}

// TestLeftOutThenGone: what was recorded, and left out when it went, comes back as it was recorded last, and is said not to be whole.
func TestLeftOutThenGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open(Options{Limits: Limits{FileSize: 100}})
	f.git("init", "-q")
	f.write("lib/mine", "w", "big", "small")
	f.take(WhyStart, 1)
	f.shell("git init -q lib")
	f.write("big", strings.Repeat("x", 101), "lib/more", "m")
	f.take(WhyEnd, 1)
	f.remove("lib")
	f.remove("big")
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u, _ := v.Unrecorded(v.All[1])
	v.Close()
	if out := f.lost(); f.content("lib/mine") != "w" || f.content("big") != "small" || len(out.Plan.Kept) > 0 || u != (Unrecorded{TooLarge: 1, Repository: 1}) {
		t.Errorf("lib/mine %q, big %q, kept %+v, %+v", f.content("lib/mine"), f.content("big"), out.Plan.Kept, u)
	}
}

// TestTickOfBegunFile: a file that was recorded by time when a command had only begun it comes back as it was before that.
func TestTickOfBegunFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repository()
	f.write("f2", "work\n", "new", "n\n")
	f.take(WhyTick, 1)
	f.write("f2", "")
	f.take(WhyTick, 1)
	f.shell("git checkout -q f2; rm new")
	if out := f.lost(); f.content("f2") != "work\n" || f.content("new") != "n\n" {
		t.Errorf("f2 %q, %+v", f.content("f2"), out.Plan)
	}
}

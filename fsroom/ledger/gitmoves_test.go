//go:build unix

package ledger

import (
	"slices"
	"strings"
	"testing"
)

// TestGitsMoves: what an undo of a turn takes back, and what git moved and stays.
func TestGitsMoves(t *testing.T) {
	tests := map[string]struct {
		turn     string
		paths    string // that the undo changes
		git      int
		commits  int
		straight bool
	}{
		"work":                      {"echo w >> f2; echo n > new", "f2 new", 0, 0, false},
		"commits":                   {"echo w >> f2; git commit -qam w; echo v >> f3; git commit -qam v", "f2 f3", 0, 2, true},
		"switch":                    {"git switch -q other", "", 2, 0, false},
		"switch and work":           {"git switch -q other; echo w >> f3", "f3", 2, 0, false},
		"switch and commit":         {"git switch -q other; echo w >> f3; git commit -qam w", "f3", 2, 1, false},
		"commit and switch":         {"echo w >> f3; git commit -qam w; git switch -q other", "", 2, 1, false},
		"merge":                     {"git merge -q --no-edit other", "", 1, 0, false},
		"fast-forward":              {"git merge -q --ff-only ahead", "", 1, 0, false},
		"reset":                     {"git reset -q --hard HEAD~1", "", 1, 0, false},
		"amend":                     {"echo w >> f3; git commit -qa --amend -m w", "f3", 0, 1, false},
		"rebase of work":            {"echo w >> f3; git commit -qam w; git rebase -q other", "f3", 1, 1, false},
		"switch there and back":     {"git switch -q other; git switch -q main; echo w >> f3", "f3", 0, 0, false},
		"fast-forward and commit":   {"git merge -q --ff-only ahead; echo w >> f3; git commit -qam w", "f3", 1, 1, false},
		"commit of what was moved":  {"git switch -q other; echo w >> o; git commit -qam w", "o", 1, 1, false},
		"cherry-pick":               {"git cherry-pick ahead", "a", 0, 1, true},
		"revert":                    {"git revert --no-edit HEAD", "f1", 0, 1, true},
		"am":                        {"git format-patch -q -1 ahead; git am -q 0*.patch; rm 0*.patch", "a", 0, 1, true},
		"merge of its own branch":   {"git switch -qc s; echo w >> f3; git commit -qam w; git switch -q main; git merge -q --no-edit s", "f3", 0, 1, false},
		"merge by a commit":         {"git switch -qc s; echo w >> f3; git commit -qam w; git switch -q main; git merge -q --no-edit --no-ff s", "f3", 0, 1, false},
		"autosquash":                {"echo w >> f3; git commit -qa --fixup HEAD; GIT_SEQUENCE_EDITOR=true git rebase -qi --autosquash HEAD~2", "f3", 0, 1, false},
		"merge of others, resolved": {"git merge -q --no-commit other; echo w > f3; git add f3; git commit -qm m", "f3", 1, 1, false},
		"permissions and commit":    {"chmod 600 f2; echo w >> f3; git commit -qam w", "f2 f3", 0, 1, true},
		"what was there, committed": {"git add dirty; git commit -qm d", "", 0, 1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.shell("git init -q -b main .; for i in 1 2 3; do echo $i > f$i; done; git add -A; git commit -qm 1; git switch -qc other; echo o > o; git add o; " +
				"git commit -qm o; git switch -q main; echo x >> f1; git commit -qam 2; git switch -qc ahead; echo a > a; git add a; git commit -qm a; git switch -q main")
			f.write("dirty", "d\n")
			f.take(WhyStart, 1)
			f.settled()
			f.shell(tt.turn)
			f.take(WhyEnd, 1)
			f.git("status") // the repository is whole
			v, err := f.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			from, to := TurnOf(v.All, 1)
			p, err := v.PlanUndo(from, to, nil)
			if err != nil || len(p.Conflicts) > 0 {
				t.Fatal(p, err)
			}
			var paths []string
			for _, s := range p.Steps {
				paths = append(paths, s.Path)
			}
			slices.Sort(paths)
			if got := strings.Join(paths, " "); got != tt.paths || p.Git != tt.git || p.Commits != tt.commits || p.Straight != tt.straight {
				t.Errorf("undoes %q, %d are git's, %d commits, straight %v", got, p.Git, p.Commits, p.Straight)
			}
		})
	}
}

// TestGitMovedAndWritten: an undo of a turn that git moved a file in, and that wrote to it, takes back what was written.
func TestGitMovedAndWritten(t *testing.T) {
	t.Parallel()
	const edit = "sed -i s/^8$/w/ f; "
	tests := map[string]struct{ turn, want string }{ // the lines of f that are not their number; "conflict"
		"pull":                      {"git pull -q . up; " + edit, "p"},
		"pull, the same line":       {"git pull -q . up; sed -i s/^p$/w/ f", "p"},
		"pull and commit":           {"git pull -q . up; " + edit + "git commit -qam w", "p"},
		"commit and pull":           {edit + "git commit -qam w; git pull -q --no-rebase --no-edit . up", "p"},
		"commit and rebase":         {edit + "git commit -qam w; git rebase -q up", "p"},
		"rebase of others' commits": {"git switch -q side; git rebase -q up; " + edit, "p s"},
		"switch":                    {"git switch -q up; " + edit, "p"},
		"reset":                     {"git reset -q --hard up; " + edit, "p"},
		"commit and reset":          {edit + "git commit -qam w; git reset -q --hard up; " + edit, "p"},
		"reset of the index":        {"git reset -q up; " + edit, ""},
		"reset, the same line":      {"git reset -q --hard up; sed -i s/^p$/w/ f", "conflict"},
		"merge of its own branch":   {"git switch -qc s; " + edit + "git commit -qam w; git switch -q -; git commit -q --allow-empty -m e; git merge -q --no-edit s", ""},
		"merge with a commit":       {edit + "git commit -qam w; git merge -q --no-commit up; git commit -qm m", "conflict"},
		"stash":                     {"sed -i s/^5$/w/ f; git stash -q; git pull -q . up; git stash pop -q", "p"},
		"a file that came":          {"git pull -q . up; echo w >> n; " + edit, "p"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.shell("git init -q -b main .; seq 9 > f; git add -A; git commit -qm 1; git switch -qc side; sed -i s/^5$/s/ f; git commit -qam s; " +
				"git switch -qc up main; sed -i s/^2$/p/ f; echo n > n; git add n; git commit -qam p; git switch -q main")
			f.take(WhyStart, 1)
			f.settled()
			f.shell(tt.turn)
			f.take(WhyEnd, 1)
			out, err := f.undo(1)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.FieldsFunc(f.content("f"), func(r rune) bool { return r >= '0' && r <= '9' || r == '\n' }), " ")
			if len(out.Plan.Conflicts) > 0 {
				got = "conflict"
			}
			if got != tt.want || strings.HasSuffix(tt.turn, "n; "+edit) && f.content("n") != "n\n" {
				t.Errorf("f is %q, %+v", got, out.Plan)
			}
		})
	}
}

// TestSparse: what git wrote because a checkout is less sparse stays, and the turn's own work goes.
func TestSparse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.shell("git init -q .; for d in x y; do mkdir $d; echo $d > $d/f; echo $d > $d/g; done; git add -A; git commit -qm 1; git sparse-checkout set x 2>/dev/null")
	f.take(WhyStart, 1)
	f.shell("git sparse-checkout disable 2>/dev/null; echo w >> y/g; echo n > y/n; rm x/f")
	f.take(WhyEnd, 1)
	out, err := f.undo(1)
	if err != nil || out.Plan.Git != 1 || f.git("status", "--porcelain") != "" || f.content("y/g") != "y\n" || f.content("x/f") != "x\n" {
		t.Errorf("%+v, %v: %s", out, err, f.git("status", "--porcelain"))
	}
}

// TestUnrecordedSince: what came after the snapshot and went counts, too, and each path once.
func TestUnrecordedSince(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write(".gitignore", "out/\n", "a", "1", "out/o", "1")
	first := f.take(WhyFirst, 0)
	f.write(".env", "SECRET", "a", "2")
	f.take(WhyGuard, 0)
	f.write("a", "3")
	f.take(WhyGuard, 0)
	f.remove(".env")
	f.remove("out/o")
	f.remove("out")
	f.write("a", "4")
	f.take(WhyGuard, 0)
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if u, _ := v.Unrecorded(first); u != (Unrecorded{Ignored: 1, Secret: 1}) {
		t.Errorf("%+v", u)
	}
	if u, _ := v.Unrecorded(v.All[len(v.All)-1]); u != (Unrecorded{}) {
		t.Errorf("since the last one: %+v", u)
	}
}

// TestIgnoredLater: what was recorded, then ignored, and went, was recorded; what git ignores no more is there.
func TestIgnoredLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("init", "-q")
	f.write("a", "1", "d/a", "1")
	f.take(WhyFirst, 0)
	f.write(".gitignore", "a\nd/\nb\nnever\n", "b", "b", "never", "never")
	f.take(WhyGuard, 0)
	f.remove("a")
	f.remove("d")
	f.remove("never")
	f.write(".gitignore", "a\nd/\n")
	v, err := f.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	p, err := v.PlanLost(nil)
	want := []Conflict{{Path: "a", Why: KeptIgnored}, {Path: "d", Why: KeptIgnored}}
	if u, _ := v.Unrecorded(v.All[1]); err != nil || u != (Unrecorded{Ignored: 1}) || !slices.Equal(p.Kept, want) {
		t.Errorf("%+v, kept %+v", u, p.Kept)
	}
}

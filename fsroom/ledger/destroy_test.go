package ledger

import (
	"os/exec"
	"strings"
	"testing"
)

// makeWork makes a tree with committed, staged, modified, untracked and special files.
const makeWork = `
git init -q -b main . && git config commit.gpgsign false
mkdir -p src/deep docs bin; for i in 1 2 3 4 5; do echo "line $i" > src/f$i.c; done
printf 'crlf\r\nfile\r\n' > docs/crlf.txt; printf '\0\1\2binary' > bin/blob; echo '#!/bin/sh' > bin/run; chmod +x bin/run; ln -s ../src/f1.c docs/link
printf '*.o\n/build/\n.env\n' > .gitignore; echo '*.txt text=auto' > .gitattributes
git add -A 2>/dev/null; git commit -qm one; echo two >> src/f1.c; git commit -qam two; git branch other HEAD~1; git tag t1 HEAD~1
echo modified >> src/f2.c; echo staged >> src/f3.c; git add src/f3.c; echo "staged and more" >> src/f3.c
echo untracked > src/new.c; mkdir -p "dir with space/ü"; echo uni > "dir with space/ü/dátei"; echo newexec > bin/tool; chmod 755 bin/tool
rm src/f4.c; git mv src/f5.c src/f5renamed.c; ln -s nowhere dangling; printf '\r\nmore\r\n' >> docs/crlf.txt; chmod +x docs/crlf.txt
: > empty; head -c 300000 /dev/urandom > big.bin; echo obj > src/x.o
cp -a src/f2.c src/zz_copy.c`

// destructive are commands that throw work away.
var destructive = []string{
	"git reset --hard",
	"git reset --hard HEAD~1",
	"git checkout -- .",
	"git checkout -f other",
	"git switch -f --detach t1",
	"git restore .",
	"git restore --source=HEAD~1 --staged --worktree .",
	"git clean -fd",
	"git clean -fdx",
	"git stash -u; git stash drop",
	"git stash -a; git stash clear",
	"git reset --hard; git clean -fdx",
	"git rm -rfq src",
	"git add -A; git commit -qm x --no-verify; git reset --hard HEAD~2; git reflog expire --expire=now --all; git gc -q --prune=now",
	"rm -rf src docs",
	"rm -rf ./*",
	"rm -rf .git",
	"rm -rf .git ./* .gitignore .gitattributes",
	"find . -name '*.c' -delete",
	"sed -i s/line/LINE/ src/*.c",
	"sed -i '1d' src/f2.c; touch -d '2020-01-01' src/f2.c",
	"mv src ../gone",
	"truncate -s 0 src/* big.bin",
	"git checkout other -- src; git clean -fdq",
	"git commit -qam wip; git rebase -q HEAD~1 --onto t1 2>&1; git rebase --abort 2>&1; git reset --hard t1",
	"cp /dev/null bin/run; chmod -R a-x bin; rm docs/link",
	"rm -f src/f2.c; mkdir src/f2.c; echo in > src/f2.c/x",
	"git update-index --assume-unchanged src/f2.c; git checkout -f HEAD -- src/f2.c; dd if=/dev/zero of=big.bin bs=1k count=1 2>/dev/null",
}

func (f *fixture) shell(script string) {
	f.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = f.root, f.env()
	_ = cmd.Run()
}

// withoutIgnored is the state without what no snapshot has.
func (f *fixture) withoutIgnored() string {
	var b strings.Builder
	for line := range strings.Lines(f.state()) {
		if !strings.Contains(line, "x.o ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestDestructiveCommands takes each of them back, byte for byte; and by --lost alone nothing
// is missing after those that go through git, nor after rm.
func TestDestructiveCommands(t *testing.T) {
	t.Parallel()
	commands := destructive
	if testing.Short() {
		commands = commands[:6]
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			f := newFixture(t)
			f.shell(makeWork)
			s := f.take(WhyStart, 1)
			before := f.withoutIgnored()
			f.settled()
			f.shell(command)
			harmed := f.withoutIgnored()
			f.take(WhyGuard, 1)
			if strings.HasPrefix(command, "git reset") || strings.HasPrefix(command, "rm -rf") || strings.HasPrefix(command, "git restore") || strings.HasPrefix(command, "git stash") ||
				strings.HasPrefix(command, "git clean") || strings.HasPrefix(command, "git checkout -") {
				out := f.lost()
				for line := range strings.Lines(before) {
					moved := strings.HasPrefix(line, "src/f1.c ") && (strings.HasSuffix(command, "HEAD~1") || strings.HasSuffix(command, "other"))
					if !moved && !strings.Contains(f.withoutIgnored(), line) { // what a commit has is no loss where HEAD moved
						t.Errorf("still lost: %s%+v", line, out.Plan.Kept)
					}
				}
			}
			f.restore(s, true)
			if after := f.withoutIgnored(); after != before {
				t.Errorf("before\n%sharmed\n%safter\n%s", before, harmed, after)
			}
		})
	}
}

// TestNothingIsLost: ordinary work is no loss.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"edit and commit":        {"echo a >> f2", "echo b >> f2; git commit -qam 3"},
		"commit, switch, return": {"echo a >> f2", "git commit -qam 3", "git switch -q other", "git switch -q main"},
		"stash and pop":          {"echo a >> f2; echo n > new", "git stash -q -u", "git stash pop -q"},
		"moved":                  {"echo n > new", "mv new newer"},
		"amend and rebase":       {"echo a >> f2; git commit -qam 3", "echo c >> f3; git commit -q --amend -a -m 4", "git rebase -q other"},
	}
	for name, commands := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.shell("git init -q -b main .; for i in 1 2 3; do echo $i > f$i; done; git add -A; git commit -qm 1; git branch other; echo x >> f1; git commit -qam 2")
			f.take(WhyStart, 1)
			for _, c := range commands {
				f.settled()
				f.shell(c)
				f.take(WhyGuard, 1)
			}
			before := f.state()
			if out := f.lost(); len(out.Plan.Steps) > 0 || f.state() != before {
				t.Errorf("found %+v", out.Plan)
			}
		})
	}
	f := newFixture(t)
	f.shell("git init -q; echo 1 > f; git add -A; git commit -qm 1; echo n > new")
	f.take(WhyStart, 1)
	f.settled()
	f.shell("rm new; echo z >> f")
	f.take(WhyGuard, 1)
	if f.lost(); f.content("new") != "n\n" || f.content("f") != "1\nz\n" {
		t.Errorf("new %q f %q", f.content("new"), f.content("f"))
	}
}

package shell

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// corpus returns the commands of a file in testdata.
func corpus(tb testing.TB) (commands []string) {
	for _, file := range []string{"testdata/corpus.tsv", "testdata/more.tsv"} {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if _, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
				commands = append(commands, unescaped(command))
			}
		}
	}
	return commands
}

// FuzzClassify looks for commands that end it, or that it does not finish. What surely
// succeeds before a command changes nothing of it.
func FuzzClassify(f *testing.F) {
	for _, c := range corpus(f) {
		f.Add(c)
	}
	for _, c := range []string{"", "\x00", "((((((((", "$(((((", "${", "`", "<<E", "case", "a() { a; }; a", "alias a=a; a", "eval eval eval", "find -exec", "git -C", "git -c", "env -S", "xargs -I",
		"for x in {1..9}; do for y in {1..9}; do for z in {1..9}; do rm $x$y$z; done; done; done", "sed -i", "tar", "cp -t", "python -c", "bash -c", "trap x", "cat <<A <<B\nA\nB\n", strings.Repeat("{", 200), strings.Repeat("$(", 500)} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		start := time.Now()
		res := Classify(command, testEnv())
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %v", took)
		}
		if res.Broken || strings.ContainsAny(command, "\x00\r") {
			return
		}
		again := Classify("true; "+command, testEnv())
		if len(again.Effects) != len(res.Effects) && !again.Broken && slices.Equal(again.Unknown, res.Unknown) && !slices.ContainsFunc(res.Unknown, isCut) {
			t.Errorf("behind another command: %+v, else %+v", again, res)
		}
	})
}

// TestQuoted has each command of the corpus as a text that is printed.
func TestQuoted(t *testing.T) {
	for _, c := range corpus(t) {
		if r := Classify("echo '"+strings.ReplaceAll(c, "'", `'\''`)+"'", testEnv()); len(r.Effects) > 0 {
			t.Errorf("echo %q: %+v", c, r.Effects)
		}
	}
}

// numbered is a text n times, each time with another number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// isCut reports whether not all of a command was followed.
func isCut(unknown string) bool {
	return strings.HasPrefix(unknown, "a command that ") || unknown == "the rest of a loop" || unknown == "more changes than are followed"
}

func stashes(r Result) bool {
	return slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Op == "git stash" })
}

// TestTooMuch: what would take long to follow is not followed, whatever stands behind it. It is
// steps that are counted, not time. What was found before counts, and so does what stands behind a
// long loop or many harmless changes.
func TestTooMuch(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (MaxCommand-200)/len(s)) }
	x := strings.Repeat("x", MaxCommand/2-100)
	for _, c := range []string{
		strings.Repeat("rm a; ", MaxCommand/6+1), fill("rm a; "), fill("cd a; "), fill("true | "), fill("$(ls $(ls)) "), fill("cat <<E\n$a\nE\n"),
		"rm " + fill("a "), "rm " + strings.Repeat("{a,b}", 6) + strings.Repeat("$a", 900), "f() { a; }; " + fill("f; "), "case x in " + fill("a) b;; ") + "esac;",
		"a=xx; " + strings.Repeat("a=$a$a; ", 60), "a=xx; " + strings.Repeat("a+=$a; ", 60), "a=$U; " + strings.Repeat("a=$a$a; ", 60),
		"a=(x y); " + strings.Repeat(`a=("${a[@]}" "${a[@]}"); `, 60), "set x; " + strings.Repeat(`set -- "$@" "$@"; `, 60),
		"python3 -c '" + fill("open(a,\"w\")\n") + "'; ", "perl -e '" + fill("unlink $a,") + "'; ",
		"git a; git b; git c; git d; git e; git f; git g; git h; git i; ",
	} {
		env := testEnv()
		env.Alias = func(string) string { return "" }
		if r := Classify(c+"git stash", env); stashes(r) || len(r.Unknown) == 0 || !strings.HasPrefix(r.Unknown[len(r.Unknown)-1], "a command that ") {
			t.Errorf("%.60q: %d effects, unknown %.100q", c, len(r.Effects), r.Unknown)
		}
	}
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	for _, c := range []string{
		many(300, `echo "== $(basename src/f.go)" && grep -n x src/f.go | head -5; `), many(70, "echo x && "), many(70, "test -f x || "),
		"for a in" + many(20, " a") + "; do for b in" + many(12, " b") + "; do x=$(wc -l $a); y=$(grep x $b); echo $x $y $(date); done; done; ",
		"for a in" + many(70, " a") + "; do echo x; done; ", "a='#" + x + "'; for b in {1,2,3,4,5,6,7,8,9}; do for c in {1,2,3,4,5,6,7,8,9}; do eval $a; done; done; ",
		numbered(70, "echo x >/tmp/f%d; "), numbered(70, "rm /w/dist/f%d; "), numbered(600, "rm /tmp/f%d; "), numbered(600, "export A%d=x\n"),
		"git stash; " + fill("true; "), "f() { " + fill("a; ") + "}; ",
	} {
		if r := Classify(c+"git stash", testEnv()); !stashes(r) {
			t.Errorf("%.60q: %d effects, unknown %.100q", c, len(r.Effects), r.Unknown)
		}
	}
	for _, c := range []string{"cat >a <<'E'\n" + fill("text ") + "\nE\n", "python3 - <<'E'\nopen('a', 'w').write('''" + fill("a = b(c)\n") + "''')\nE\n", "git add " + strings.Repeat("dir/file ", 2000)} {
		if r := Classify(c, testEnv()); len(r.Effects) != 1 {
			t.Errorf("%.60q: %d effects, unknown %q", c, len(r.Effects), r.Unknown)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	commands := corpus(b)
	for i := 0; b.Loop(); i++ {
		Classify(commands[i%len(commands)], testEnv())
	}
}

func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		known.Clear()
		find("git stash drop")
		find("rm")
	}
}

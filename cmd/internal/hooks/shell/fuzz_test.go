package shell

import (
	"os"
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
		if len(again.Effects) != len(res.Effects) && !again.Broken && len(again.Unknown) == len(res.Unknown) {
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

func TestTooLong(t *testing.T) {
	if r := Classify(strings.Repeat("rm a; ", MaxCommand/6+1), testEnv()); len(r.Effects) != 0 || len(r.Unknown) != 1 {
		t.Errorf("%d effects, unknown %q", len(r.Effects), r.Unknown)
	}
	if r := Classify(strings.Repeat("rm a; ", MaxCommand/6), testEnv()); len(r.Effects) != 0 || len(r.Unknown) != 1 {
		t.Errorf("with too many steps: %d effects, unknown %q", len(r.Effects), r.Unknown)
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

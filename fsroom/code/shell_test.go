package code

import (
	"os/exec"
	"testing"
)

// TestShellWord: a shell reads the word as the text, and nothing of it acts.
func TestShellWord(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for text, want := range map[string]string{
		"/a/b.go": "/a/b.go", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm x);`y`": "'$(rm x);`y`'", "é": "'é'",
		"new\nline": `$'new\nline'`, "bad\xff": `$'bad\xff'`, "it's\t\"\\\x01": `$'it\'s\t\"\\\x01'`,
	} {
		word := ShellWord(text)
		if word != want {
			t.Errorf("%q: %s, want %s", text, word, want)
		}
		if read, err := exec.Command(bash, "-c", "printf %s "+word).Output(); err != nil || string(read) != text {
			t.Errorf("%s is read as %q, %v", word, read, err)
		}
	}
}

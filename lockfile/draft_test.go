package lockfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestDraft: until a draft has its name the file is as it was, and what is not used is gone.
func TestDraft(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "file"), filepath.Join(dir, "tmp")
	content := func() string { b, _ := os.ReadFile(path); return string(b) }
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		before := content()
		unused, err := Prepare(path, []byte("unused"), temp)
		if err != nil {
			t.Fatal(err)
		}
		unused.Remove()
		d, err := Prepare(path, []byte(text), temp)
		if err != nil || content() != before {
			t.Fatalf("%v, %q before it is replaced", err, content())
		}
		if err := d.Replace(); err != nil || content() != text {
			t.Fatalf("%v, %q", err, content())
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := Prepare(filepath.Join(dir, "taken"), nil, temp)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(temp); d.Replace() == nil || len(left) != 1 {
		t.Errorf("a directory was replaced, or %v", left)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestDraftIsSynced: what a draft has is written before it is synced, and one that could not be synced is gone.
func TestDraftIsSynced(t *testing.T) {
	temp, full := t.TempDir(), errors.New("full")
	var synced string
	_, err := draft(filepath.Join(temp, "file"), []byte("text"), temp, func(f *os.File) error {
		b, _ := os.ReadFile(f.Name())
		synced = string(b)
		return full
	})
	if left, _ := os.ReadDir(temp); !errors.Is(err, full) || synced != "text" || len(left) > 0 {
		t.Errorf("%v, synced %q, left %v", err, synced, left)
	}
}

// TestReplaceWhen: a file that is not ready replaces nothing.
func TestReplaceWhen(t *testing.T) {
	temp, refused := t.TempDir(), errors.New("refused")
	err := ReplaceWhen(func(*os.File) error { return refused }, filepath.Join(temp, "file"), nil, temp)
	if left, _ := os.ReadDir(temp); !errors.Is(err, refused) || len(left) > 0 {
		t.Errorf("%v, left %v", err, left)
	}
}

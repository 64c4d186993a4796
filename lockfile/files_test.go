package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	check(t, err)
	if string(got) != want {
		t.Errorf("%s has %q, want %q", path, got, want)
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	if len(entries) > 0 {
		t.Errorf("%d files left in %s, such as %s", len(entries), dir, entries[0].Name())
	}
}

func TestReaderNeverSeesAMix(t *testing.T) {
	path, temp := inTemp(t, "state"), t.TempDir()
	check(t, Replace(path, uniform(0), temp))
	writer := start(t, "replace", path, temp)
	ended := make(chan error, 1)
	go func() { ended <- writer.Wait() }()
	for reading := true; reading; {
		select {
		case err := <-ended:
			check(t, err)
			reading = false // one last look, at the end
		default:
		}
		data, err := os.ReadFile(path)
		check(t, err)
		if len(data) == 0 || string(data) != string(uniform(int(data[0]-'a'))) {
			t.Fatalf("read a mix of %d bytes", len(data))
		}
	}
	wantContent(t, path, string(uniform(replaceRounds-1)))
	wantEmpty(t, temp)
}

func TestFailedReplaceChangesNothing(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "occupied"), 0o700))
	if err := Replace(filepath.Join(dir, "occupied"), []byte("x"), temp); err == nil {
		t.Error("replaced a directory")
	}
	wantEmpty(t, temp)
	path := filepath.Join(dir, "file")
	check(t, os.WriteFile(path, []byte("old"), 0o600))
	for _, noTemp := range []string{"", filepath.Join(dir, "missing")} {
		if err := Replace(path, []byte("new"), noTemp); err == nil {
			t.Errorf("replaced with temporary directory %q", noTemp)
		}
	}
	wantContent(t, path, "old")
}

func TestSweep(t *testing.T) {
	temp, kept := t.TempDir(), inTemp(t, "kept")
	check(t, os.WriteFile(kept, []byte("kept"), 0o600))
	check(t, os.WriteFile(filepath.Join(temp, ".state123"), nil, 0o600))
	check(t, os.WriteFile(filepath.Join(temp, "other"), nil, 0))
	check(t, os.Symlink(kept, filepath.Join(temp, "link")))
	check(t, os.Symlink(filepath.Dir(kept), filepath.Join(temp, "linked directory")))
	check(t, os.MkdirAll(filepath.Join(temp, "room"), 0o700))
	if removed, err := Sweep(temp); removed != 4 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	wantContent(t, kept, "kept")
	if entries, err := os.ReadDir(temp); len(entries) != 1 || entries[0].Name() != "room" {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestSweepOfWhatIsNoDirectory(t *testing.T) {
	if removed, err := Sweep(inTemp(t, "missing")); removed != 0 || err != nil {
		t.Errorf("missing: %d, %v", removed, err)
	}
	file := inTemp(t, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	link := inTemp(t, "link")
	check(t, os.Symlink(filepath.Dir(file), link))
	for _, path := range []string{file, link} {
		if removed, err := Sweep(path); removed != 0 || err == nil {
			t.Errorf("%s: %d, %v", path, removed, err)
		}
	}
	wantContent(t, file, "")
}

func TestSyncDir(t *testing.T) {
	check(t, SyncDir(t.TempDir()))
	if err := SyncDir(inTemp(t, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestLocalDirectoriesAreSupported(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{dir, filepath.Join(dir, "not", "there", "yet"), filepath.Join(file, "below"), "relative/missing", "", "/"} {
		check(t, Supported(path))
	}
}

func BenchmarkReplace(b *testing.B) {
	path, temp, data := inTemp(b, "state"), b.TempDir(), make([]byte, 2400)
	b.ReportAllocs()
	for b.Loop() {
		check(b, Replace(path, data, temp))
	}
}

func BenchmarkSupported(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		check(b, Supported(dir))
	}
}

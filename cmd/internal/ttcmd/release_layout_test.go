package ttcmd

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// What a release contains is written in .goreleaser.yaml. The quickstart and "tt self-update"
// unpack it with commands of their own, which this runs on an archive of that layout.
func TestReleaseIsUnpackedAsItIsPacked(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip(err)
	}
	home, name := t.TempDir(), releaseArchive(t)
	quickstart, err := os.ReadFile("../../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(quickstart), "\n$ CGO_ENABLED=0 go install github.com/talking-stick/tt/cmd/...@latest ") {
		t.Error("docs/quickstart.md does not install every program with go install")
	}
	line := regexp.MustCompile(`(?m)^\$ (tar .*?)\s*(#.*)?$`).FindStringSubmatch(string(quickstart))
	if line == nil {
		t.Fatal("docs/quickstart.md does not say how to unpack a release")
	}
	archive := packRelease(t, t.TempDir(), name)
	if err := os.Mkdir(filepath.Join(home, ".local"), 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, filepath.Dir(archive), line[1], "HOME="+home, "PATH="+os.Getenv("PATH"))
	if got := names(t, filepath.Join(home, ".local")); got != "bin share" {
		t.Errorf("%s leaves %s in ~/.local", line[1], got)
	}
	if got := names(t, filepath.Join(home, ".local", "bin")); got != "agent-bus tt tt-console tt-nats tt-natsd" {
		t.Errorf("%s leaves %s in ~/.local/bin", line[1], got)
	}

	// A curl that knows the archive of this system alone.
	dir, tools := t.TempDir(), t.TempDir()
	archive = packRelease(t, t.TempDir(), "tt_"+runtime.GOOS+"_"+runtime.GOARCH)
	curl := "#!/bin/sh\ncase $2 in */releases/latest/download/" + filepath.Base(archive) + ") exec cat '" + archive + "' ;; esac\nexit 22\n"
	if err := os.WriteFile(filepath.Join(tools, "curl"), []byte(curl), 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, adviseUpdate(filepath.Join(dir, "tt"), "archive", "").Shell, "PATH="+tools+":"+os.Getenv("PATH"))
	if got := names(t, dir); got != "agent-bus tt tt-console tt-nats tt-natsd" {
		t.Errorf("self-update leaves %s", got)
	}
}

var (
	archiveName   = regexp.MustCompile(`(?m)^  - name_template: "(.*)"$`)
	releaseBinary = regexp.MustCompile(`(?m)^    binary: (\S+)$`)
	releaseFile   = regexp.MustCompile(`src: (\S+?),?\n?\s+dst: (\S+?),?\s`)
)

func releaseConfig(t *testing.T) string {
	t.Helper()
	config, err := os.ReadFile("../../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, archives, _ := strings.Cut(string(config), "\narchives:\n")
	if !strings.Contains(archives, "wrap_in_directory: true") {
		t.Fatal("the archives have no directory around what is in them")
	}
	return string(config)
}

// releaseArchive returns the name of the archive for Linux on amd64.
func releaseArchive(t *testing.T) string {
	t.Helper()
	name := archiveName.FindStringSubmatch(releaseConfig(t))
	if name == nil {
		t.Fatal(".goreleaser.yaml does not name the archives")
	}
	got := strings.NewReplacer("{{ .Os }}", "linux", "{{ .Arch }}", "amd64").Replace(name[1])
	if got != "tt_linux_amd64" {
		t.Errorf("the archive is called %s, which has to be the same for each version", got)
	}
	return got
}

// packRelease writes an archive of the layout that .goreleaser.yaml describes.
func packRelease(t *testing.T, dir, name string) string {
	t.Helper()
	config := releaseConfig(t)
	files := []string{}
	for _, binary := range releaseBinary.FindAllStringSubmatch(config, -1) {
		files = append(files, binary[1])
	}
	_, archives, _ := strings.Cut(config, "\narchives:\n")
	archives, _, _ = strings.Cut(archives, "\nnfpms:\n")
	for _, file := range releaseFile.FindAllStringSubmatch(archives, -1) {
		files = append(files, file[2]+"/"+filepath.Base(file[1]))
	}
	if len(files) < 8 {
		t.Fatalf("only %q", files)
	}
	path := filepath.Join(dir, name+".tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(f)
	w := tar.NewWriter(packed)
	for _, file := range files {
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + strings.ReplaceAll(file, "*", "x"), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
	}
	for _, close := range []func() error{w.Close, packed.Close, f.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func shell(t *testing.T, dir, line string, env ...string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// names returns what is in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

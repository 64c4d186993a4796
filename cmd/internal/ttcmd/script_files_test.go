package ttcmd

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

type snapshotKey struct{}

// scriptSnapshot remembers every file of the script: workspace, home and data
// directory, with modes and contents.
func scriptSnapshot(ts *testscript.TestScript, _ bool, _ []string) {
	held, _ := ts.Value(snapshotKey{}).(*map[string]string)
	if held == nil {
		ts.Fatalf("no place for a snapshot")
	}
	_ = sharingOf(ts).refresh() // so that nothing is fetched after this; some rooms cannot be
	*held = filesBelow(ts)
}

// scriptSame fails if a file has come, gone or changed since the snapshot.
func scriptSame(ts *testscript.TestScript, neg bool, _ []string) {
	before := *ts.Value(snapshotKey{}).(*map[string]string)
	if before == nil {
		ts.Fatalf("there is no snapshot")
	}
	now := filesBelow(ts)
	var differ []string
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, ok := now[path]; !ok {
			differ = append(differ, "gone: "+path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if was, ok := before[path]; !ok && isOfNewHost(path, before) {
		} else if !ok {
			differ = append(differ, "new: "+path)
		} else if was != now[path] {
			differ = append(differ, "changed: "+path)
		}
	}
	if neg == (len(differ) == 0) {
		ts.Fatalf("since the snapshot: %d files differ\n%s", len(differ), strings.Join(differ, "\n"))
	}
}

func filesBelow(ts *testscript.TestScript) map[string]string {
	root := ts.Getenv("WORK")
	files, err := sharingOf(ts).engineFiles()
	ts.Check(err)
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == filepath.Join(root, ".tmp") {
			return fs.SkipDir
		}
		if base := filepath.Base(path); isFetched(path) || base == "activity.json" || base == "tmp" { // every hook notes what its agent does
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %x", sha256.Sum256(b))
		}
		files[strings.TrimPrefix(path, root)] = what
		return nil
	}))
	return files
}

// scriptAwait is "await FILE RE": waits until the file matches.
func scriptAwait(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: await FILE RE")
	}
	re := regexp.MustCompile(`(?m)` + args[1])
	for start := time.Now(); ; time.Sleep(lookAgain) {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && re.Match(b) {
			return
		}
		if time.Since(start) > patience {
			ts.Fatalf("%s does not match %s: %q", args[0], args[1], b)
		}
	}
}

// scriptLike is "like FILE WANT": every line of the file is the line of WANT, in
// which * stands for anything and variables for their values.
func scriptLike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: like FILE WANT")
	}
	got := ts.ReadFile(args[0])
	want := os.Expand(ts.ReadFile(args[1]), ts.Getenv)
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, `[^\n]*`)
	if !regexp.MustCompile(`^` + pattern + `$`).MatchString(got) {
		ts.Fatalf("%s is not like %s:\n%s", args[0], args[1], got)
	}
}

// scriptRoomDir is "roomdir NAME [PATH]": the directory of the room of a path,
// by default of the current directory, becomes a variable. With an engine it is the
// mirror, brought up to date: that of the script's host, unless only others have one.
func scriptRoomDir(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(".")
	if len(args) == 2 {
		dir = ts.MkAbs(args[1])
	}
	_ = sharingOf(ts).refresh() // if it can be
	var found []string
	for _, store := range sharingOf(ts).stores() {
		journals, err := filepath.Glob(filepath.Join(store, "rooms", "*", "journal.jsonl"))
		ts.Check(err)
		found = append(found, journals...)
	}
	for _, journal := range found {
		b, err := os.ReadFile(journal)
		ts.Check(err)
		if strings.Contains(string(b), strconv.Quote(dir)) {
			ts.Setenv(args[0], filepath.Dir(journal))
			return
		}
	}
	ts.Fatalf("there is no room for %s", dir)
}

// scriptAlter is "alter FILE OLD NEW": replaces the first occurrence of a text.
func scriptAlter(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: alter FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// scriptRepeat is "repeat TEXT N FILE": writes the text n times into the file.
func scriptRepeat(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: repeat TEXT N FILE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Repeat(args[0], n)), 0o600))
}

package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talking-stick/tt/lockfile"
)

// damaged returns bytes of which some are others, are missing or are more.
func damaged(t *rapid.T, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range rapid.IntRange(1, 4).Draw(t, "times") {
		at := rapid.IntRange(0, len(b)).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			b = b[:at]
		case 1:
			b = append(b[:at:at], append(rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "more"), b[at:]...)...)
		default:
			copy(b[at:], rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "other"))
		}
	}
	return b
}

// TestDamagedFilesAreNoPanic: whatever is in a file of the store or of the repository, reading it
// ends, with an answer or with an error.
func TestDamagedFilesAreNoPanic(t *testing.T) {
	t.Parallel()
	f := oneTurn(t)
	for i := range 9 { // some of it as deltas
		f.write("a.txt", strings.Replace(numbered(400), "line 7", "line x"+itoa(i), 1))
		f.git("commit", "-qam", itoa(i))
	}
	f.git("gc", "-q")
	f.take(WhyGuard, 0)
	v := f.Recorded()
	defer v.Close()
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	index, cache, lines := read(filepath.Join(f.root, ".git", "index")), read(f.cacheFile()), read(f.linesFile())
	packs := append(v.objects.own, v.objects.user...)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		_, _, _ = parseIndex(damaged(t, index), len(ID{}))
		_, _ = new(Ledger).parseLines(damaged(t, lines))

		b := damaged(t, cache)
		if n := len(b) - 4; n > len(cacheMagic) {
			copy(b, cacheMagic)
			binary.LittleEndian.PutUint32(b[n:], crc32.ChecksumIEEE(b[:n]))
		}
		path := filepath.Join(dir, "file")
		_ = os.WriteFile(path, b, 0o600)
		readCache(path)

		p := rapid.SampledFrom(packs).Draw(t, "pack")
		idx, content := p.index, read(p.path+".pack")
		if rapid.Bool().Draw(t, "index") {
			idx = damaged(t, idx)
		} else {
			content = damaged(t, content)
		}
		_ = os.WriteFile(path+".idx", idx, 0o600)
		_ = os.WriteFile(path+".pack", content, 0o600)
		bad, err := openPack(path + ".idx")
		if err != nil {
			return
		}
		o := &objects{dir: dir, own: []*pack{bad}}
		for i := range p.n {
			_, data, err := o.lookUp(p.id(i), 0)
			if err == nil {
				_, _ = parseTree(data)
			}
		}
		bad.close()
	})
}

// TestUnreadablePackIsKept: a pack that cannot be read is neither lost nor removed, and what it has
// is there again when it can.
func TestUnreadablePackIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take(WhyStart, 1)
	f.write("a", "2")
	if _, err := f.Take(t.Context(), Request{Why: WhyEnd, Turn: 1, Line: true, Unsynced: true}); err != nil {
		t.Fatal(err)
	}
	index, _ := filepath.Glob(filepath.Join(f.packDir(), unsyncedPrefix+"*"))
	pack := packOf(index[0]) + ".pack"
	if err := errors.Join(os.Rename(pack, pack+".aside"), os.Mkdir(pack, 0o700)); err != nil { // reading a directory fails
		t.Fatal(err)
	}
	f.write("b", "1")
	_, _ = f.Take(t.Context(), Request{Why: WhyStart, Turn: 2, Line: true})
	if all, err := f.Snapshots(); err != nil || len(all) < 2 || all[1].Why != WhyEnd || !exists(index[0]) {
		t.Errorf("%d snapshots, %v, the pack is there: %v", len(all), err, exists(index[0]))
	}
	if err := errors.Join(os.Remove(pack), os.Rename(pack+".aside", pack)); err != nil {
		t.Fatal(err)
	}
	f.take(WhyGuard, 0)
	if f.readable(); f.Unsynced() {
		t.Error("still unsynced")
	}
}

// TestPacksAreGone: what is lost without a power cut is damaged, and stays in the list until it is repaired; what comes
// after is recorded.
func TestPacksAreGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 2 {
		f.write("a", itoa(i), "b"+itoa(i), "1")
		f.take(WhyGuard, 0)
	}
	f.damage(f.cacheFile(), 0, "gone")
	packs, _ := filepath.Glob(filepath.Join(f.packDir(), "*"))
	for _, pack := range packs {
		f.damage(pack, 0, "gone")
	}
	f.remove("b0")
	if lost := f.lost(); lost.Plan.Damaged != 2 || len(lost.Plan.Steps) > 0 {
		t.Errorf("%+v", lost.Plan)
	}
	f.write("a", "3")
	if s, err := f.Take(t.Context(), Request{Why: WhyStart, Turn: 1, Line: true, Moment: time.Now()}); err != nil || s.Number != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	for i, left := range []int{3, 3, 1} {
		found := f.Check(t.Context(), i == 1)
		if all, _ := f.Snapshots(); i < 2 != (len(found) == 1 && found[0].Code == CodeDamaged && !found[0].Harmless) || i == 0 && len(all) != left {
			t.Errorf("%d: %d snapshots, %+v", i, len(all), found)
		}
	}
	if all, err := f.Snapshots(); err != nil || len(all) != 1 {
		t.Errorf("%d snapshots after a repair, %v", len(all), err)
	}
	f.readable()
}

// TestUnreadablePackDirectory: where the packs cannot be listed nothing is lost, and no line goes.
func TestUnreadablePackDirectory(t *testing.T) {
	for name, do := range map[string]func(f *fixture){
		"take": func(f *fixture) { _, _ = f.Take(t.Context(), Request{Why: WhyStart, Turn: 2, Line: true}) },
		"prune": func(f *fixture) {
			_ = f.prune(t.Context(), Keep{Now: time.Now().Add(1000 * time.Hour), Age: 1e6 * time.Hour}, -1)
		},
		"check": func(f *fixture) { f.Check(t.Context(), true) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a", "1")
			f.take(WhyStart, 1)
			f.write("a", "2")
			f.take(WhyEnd, 1)
			f.write("a", "3")
			listPacks = func(string) ([]os.DirEntry, error) { return nil, syscall.EMFILE }
			do(f)
			listPacks = os.ReadDir
			if all, err := f.Snapshots(); err != nil || len(all) < 2 || all[0].Turn != 1 || all[1].Why != WhyEnd {
				t.Errorf("%d snapshots are left, %v", len(all), err)
			}
			f.readable()
		})
	}
}

// TestUnsyncedSyncsNothing: whatever happens beside it, and whatever was lost before, a snapshot that
// leaves the syncs to others does none.
func TestUnsyncedSyncsNothing(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]func(f *fixture, other *Ledger){
		"alone": func(*fixture, *Ledger) {},
		"one that is unsynced": func(f *fixture, other *Ledger) {
			f.write("b", "3")
			if _, err := other.Take(t.Context(), Request{Why: WhyGuard, Line: true, Unsynced: true}); err != nil {
				t.Error(err)
			}
		},
		"one that is unsynced for long": func(f *fixture, other *Ledger) {
			f.write("b", "3")
			if _, err := other.Take(t.Context(), Request{Why: WhyGuard, Line: true, Unsynced: true}); err != nil {
				t.Error(err)
			}
			index, _ := filepath.Glob(filepath.Join(f.packDir(), unsyncedPrefix+"*"))
			_ = lockfile.Touch(index[0], time.Now().Add(-time.Hour))
		},
		"a loss": func(f *fixture, _ *Ledger) {
			all, _ := filepath.Glob(filepath.Join(f.packDir(), "*.idx"))
			for _, index := range all {
				_ = os.Remove(index)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a", "1")
			f.take(WhyStart, 1)
			f.write("a", "2")
			other, steps := New(f.Dir(), Options{Root: f.root, Limits: Limits{Free: 1}}), ""
			f.open(Options{Boot: "2", Fault: func(step string) error {
				if steps += " " + step; step == "prepare" {
					beside(f, other)
				}
				return nil
			}})
			_, err := f.Take(t.Context(), Request{Why: WhyEnd, Turn: 1, Line: true, Unsynced: true})
			for _, step := range []string{"pack-sync", "line-sync", " lines"} {
				if strings.Contains(steps, step) {
					t.Errorf("it has synced:%s", steps)
				}
			}
			if refused := name == "a loss" || strings.HasSuffix(name, "for long"); refused != (err != nil) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestUnsyncedIsOnePack: what several snapshots have left for others to sync is in one pack, so that none of
// them is there in part after a power cut, and those before are whole.
func TestUnsyncedIsOnePack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.take(WhyStart, 1)
	for _, content := range []string{"2", "3", "4"} {
		f.write("a", content, "d/b", content)
		if _, err := f.Take(t.Context(), Request{Why: WhyGuard, Turn: 1, Unsynced: true}); err != nil {
			t.Fatal(err)
		}
	}
	f.readable()
	index, _ := filepath.Glob(filepath.Join(f.packDir(), unsyncedPrefix+"*"))
	if all, err := f.Snapshots(); err != nil || len(all) != 4 || len(index) != 1 {
		t.Fatalf("%d snapshots, unsynced %v, %v", len(all), index, err)
	}
	f.damage(index[0], 0, "torn")
	f.open(Options{Boot: "2"})
	if all, err := f.Snapshots(); err != nil || len(all) != 1 {
		t.Errorf("%d snapshots after a power cut, %v", len(all), err)
	}
	f.take(WhyTick, 1)
	if f.readable(); f.Unsynced() {
		t.Error("still unsynced")
	}
}

// TestLinksAreLost: what only the user's repository has counts, and a prune makes it ours again. An index
// that is empty is one that is lost.
func TestLinksAreLost(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "empty", "empty, and there is no cache"} {
		f := newFixture(t)
		f.git("init", "-q")
		f.write("tracked", "tracked", "d/tracked", "tracked too")
		f.git("add", "-A")
		f.git("commit", "-qm", "one")
		f.git("gc", "-q")
		for i := range 3 {
			f.take(WhyGuard, 0)
			f.write("d/new", itoa(i))
		}
		f.take(WhyPerson, 0)
		linked, _ := filepath.Glob(filepath.Join(f.packDir(), "pack-*.idx"))
		if len(linked) != 1 {
			t.Fatalf("%d packs are linked", len(linked))
		}
		err := os.Remove(linked[0])
		if how != "gone" {
			err = errors.Join(err, os.WriteFile(linked[0], nil, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		v := f.Recorded()
		v.Close()
		all, err := v.All, v.objects.unread
		if err != nil || len(all) != 4 {
			t.Fatalf("%s: %d snapshots, %v", how, len(all), err)
		}
		if found := f.Check(t.Context(), true); len(found) > 0 {
			t.Errorf("%s: %+v", how, found)
		}
		kept := 4
		if how == "gone" || how == "empty" {
			if err := f.repack(true, all[1:], all[3]); err != nil {
				t.Fatalf("%s: %v", how, err)
			}
		} else {
			_ = os.Remove(f.cacheFile())
			kept++
		}
		if out, err := f.tryGit("fsck"); err != nil {
			t.Errorf("the user's repository: %v %s", err, out)
		}
		f.take(WhyGuard, 0)
		f.remove(".git")
		if all, err := f.Snapshots(); err != nil || len(all) != kept {
			t.Errorf("%s: %d snapshots, %v", how, len(all), err)
		}
		f.readable()
	}
}

// TestListedNames: a name that is listed and went meanwhile is none; what else cannot be looked at
// makes the directory unreadable, and nothing in it is called deleted.
func TestListedNames(t *testing.T) {
	names := listNames
	defer func() { listNames = names }()
	for extra, kept := range map[string]bool{"went": true, strings.Repeat("long", 100): false} {
		f := newFixture(t)
		f.write("d/a", "1", "b", "1")
		first := f.take("x", 0)
		listNames = func(dir *os.File) ([]string, error) {
			list, err := names(dir)
			if filepath.Base(dir.Name()) == "d" {
				list = append([]string{extra}, list...)
			}
			return list, err
		}
		f.write("d/a", "2")
		second := f.take("x", 0)
		listNames = names
		if (second.Tree != first.Tree) != kept || (len(second.LeftOut) == 0) != kept || len(f.paths(second.Tree)) != 2 {
			t.Errorf("%.10s: %v, left out %+v", extra, f.paths(second.Tree), second.LeftOut)
		}
	}
}

// TestUndoOfAnything: an undo changes no path that its turn did not, the second one has nothing to
// do, and the way back leads back.
func TestUndoOfAnything(t *testing.T) {
	t.Parallel()
	paths := []string{"a", "b", "d/a", "d/e/f", "x.sh"}
	content := rapid.SampledFrom([]string{"", "-", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n", "one\n2\n3\n4\n5\n6\n", "\x00"}) // "-": none
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t)
		change := func(what string) {
			for _, path := range paths {
				switch c := content.Draw(rt, what+" "+path); c {
				case "-":
					f.remove(path)
				default:
					f.write(path, c)
					_ = os.Chmod(filepath.Join(f.root, path), rapid.SampledFrom([]os.FileMode{0o644, 0o755, 0o600}).Draw(rt, "mode"))
				}
			}
		}
		change("before")
		f.take(WhyStart, 1)
		change("turn")
		f.take(WhyEnd, 1)
		change("now")
		f.write("other", "x")
		before := f.state()
		out, err := f.undo(1)
		if err != nil {
			rt.Fatal(err)
		}
		if after := f.state(); out.Before == nil && after != before {
			rt.Fatalf("changed without a snapshot before:\n%s\n%s", before, after)
		}
		all, _ := f.Snapshots()
		v := f.Recorded()
		changed, err := v.differences(all[0], all[1], nil)
		v.Close()
		for _, s := range out.Plan.Steps {
			found := false
			for _, d := range changed {
				found = found || d.Path == s.Path
			}
			if !found || err != nil {
				rt.Fatalf("%s is no path of the turn: %v", s.Path, err)
			}
		}
		if out.Before == nil {
			return
		}
		if again, err := f.undo(1); err != nil || len(again.Plan.Steps) > 0 || len(again.Plan.Conflicts) > 0 {
			rt.Fatalf("undone twice: %+v %v", again.Plan, err)
		}
		f.restore(out.Before, true)
		if after := f.state(); after != before {
			rt.Fatalf("the way back:\n%s\n%s", before, after)
		}
	})
}

// TestLinesAreGone: where the list of snapshots was damaged, nobody says that nothing went, until it is repaired.
func TestLinesAreGone(t *testing.T) {
	t.Parallel()
	for _, harm := range []string{"", "null\n", "\x00\x00\x00", "gone"} {
		f := newFixture(t)
		f.write("a", "1", "b", "2")
		f.take(WhyGuard, 0)
		if err := os.WriteFile(f.linesFile(), []byte(harm), 0o600); err != nil {
			t.Fatal(err)
		}
		if harm == "gone" {
			f.damage(f.linesFile(), 0, harm)
		}
		f.remove("b")
		if lost := f.lost(); lost.Plan.Damaged != 1 {
			t.Errorf("%q: %+v", harm, lost.Plan)
		}
		for i := range 3 {
			if found := f.Check(t.Context(), i == 1); i < 2 != (len(found) == 1 && found[0].Code == CodeDamaged && !found[0].Harmless) {
				t.Errorf("%q, %d: %+v", harm, i, found)
			}
		}
		f.take(WhyGuard, 0)
		f.readable()
	}
}

// TestNumbersAfterLines: where the list of snapshots is gone, numbers that somebody may have been told are not given again, and the
// next check says so.
func TestNumbersAfterLines(t *testing.T) {
	t.Parallel()
	for _, repair := range []bool{false, true} {
		f := newFixture(t)
		for i := range 3 {
			f.write("a", itoa(i))
			f.take(WhyGuard, 0)
		}
		if err := os.Truncate(f.linesFile(), 0); err != nil {
			t.Fatal(err)
		}
		if repair {
			f.Check(t.Context(), true)
		}
		if s := f.take(WhyGuard, 0); s.Number <= 3 {
			t.Errorf("repaired %v: %s", repair, s.Name())
		}
		if found := f.Check(t.Context(), true); f.Damaged() != 0 || !repair && (len(found) != 1 || !found[0].Harmless) {
			t.Errorf("repaired %v: %d are damaged, %+v", repair, f.Damaged(), found)
		}
	}
}

// TestPruneSaysWhatItDrops: damaged lines that a prune leaves out are named by the next check, once.
func TestPruneSaysWhatItDrops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 4 {
		f.write("a", itoa(i))
		f.take(WhyGuard, 0)
	}
	b, err := os.ReadFile(f.linesFile())
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	lines[1] = []byte("{\n")
	if err := os.WriteFile(f.linesFile(), bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := f.Lines()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.repack(true, kept[1:], kept[len(kept)-1]); err != nil {
		t.Fatal(err)
	}
	found := f.Check(t.Context(), true)
	if len(found) != 1 || found[0].Message != "1 snapshots or more were damaged, and have been dropped" || !found[0].Harmless || !found[0].Repaired {
		t.Errorf("%+v", found)
	}
	if again := f.Check(t.Context(), false); len(again) > 0 {
		t.Errorf("again: %+v", again)
	}
}

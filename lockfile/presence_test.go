package lockfile

import (
	"os"
	"testing"
)

func wantHeld(t *testing.T, path string, want bool) {
	t.Helper()
	got, err := Held(path)
	check(t, err)
	if got != want {
		t.Errorf("held is %v, want %v", got, want)
	}
}

func TestNobodyHolds(t *testing.T) {
	path := inTemp(t, "presence")
	wantHeld(t, path, false)
	if _, err := os.Stat(path); err == nil {
		t.Error("asking created the file")
	}
	check(t, os.WriteFile(path, nil, 0o600))
	wantHeld(t, path, false)
}

func TestHeldByThisProcess(t *testing.T) {
	path := inTemp(t, "presence")
	release, err := Hold(path)
	check(t, err)
	wantHeld(t, path, true)
	wantHeld(t, path, true) // asking has not dropped it
	_, err = os.ReadFile(path)
	check(t, err)
	wantHeld(t, path, true) // nor has closing the file elsewhere
	release()
	release()
	wantHeld(t, path, false)
}

func TestHeldByTwo(t *testing.T) {
	path := inTemp(t, "presence")
	other := start(t, "hold", path)
	release, err := Hold(path)
	check(t, err)
	release()
	wantHeld(t, path, true)
	release, err = Hold(path)
	check(t, err)
	other.end(t)
	wantHeld(t, path, true)
	release()
	wantHeld(t, path, false)
}

func TestKilledHolderHoldsNoMore(t *testing.T) {
	path := inTemp(t, "presence")
	holder := start(t, "hold", path)
	wantHeld(t, path, true)
	holder.kill(t)
	wantHeld(t, path, false)
}

// With a probe that takes the lock, askers would see each other.
func TestAskersDoNotSeeEachOther(t *testing.T) {
	path := inTemp(t, "presence")
	check(t, os.WriteFile(path, nil, 0o600))
	seen := make(chan bool)
	for range 4 {
		go func() {
			any := false
			for range 2000 {
				held, err := Held(path)
				any = any || held || err != nil
			}
			seen <- any
		}()
	}
	for range 4 {
		if <-seen {
			t.Error("an asker was taken for a holder")
		}
	}
}

func BenchmarkHeld(b *testing.B) {
	path := inTemp(b, "presence")
	release, err := Hold(path)
	check(b, err)
	defer release()
	b.ReportAllocs()
	for b.Loop() {
		_, err := Held(path)
		check(b, err)
	}
}

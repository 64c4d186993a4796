package fsroom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/talking-stick/tt/fsroom/code"
)

func init() { parts["limited"] = speakWithinLimits }

// speakWithinLimits says words of all lengths where the journal may grow by so
// many bytes only, from none to more than the word needs. It tells what came of
// each, and raises the limit before the next.
func speakWithinLimits(r *room, _ []string) error {
	var free syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		return err
	}
	for _, length := range []int{1, 3000} {
		word := strings.Repeat("x", length)
		for left := 0; ; left += 1 + length/30 {
			if err := acknowledged(r, say("a", "before"), "before"); err != nil {
				return err
			}
			info, err := os.Stat(r.JournalPath())
			if err != nil {
				return err
			}
			limit := syscall.Rlimit{Cur: uint64(info.Size()) + uint64(left), Max: free.Max}
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
				return err
			}
			_, _, said := r.Update(context.Background(), say("a", word))
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
				return err
			}
			if said == nil {
				fmt.Println(word)
				break
			}
			after, err := os.Stat(r.JournalPath())
			if !errors.Is(said, syscall.EFBIG) || code.Of(said) != code.DiskFull || err != nil || after.Size() != info.Size() {
				return fmt.Errorf("with %d bytes left: %v, the journal had %d bytes and has %d", left, said, info.Size(), after.Size())
			}
		}
	}
	return nil
}

// TestFileSizeLimit tears a line after every so many of its bytes: what was
// refused has left nothing behind, and what was said is there.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(join("a"))
	p := start(t, "limited", f.dir)
	acknowledged := p.rest()
	p.done()
	said := f.said()
	if len(said) < 200 || !slices.Equal(said, acknowledged) {
		t.Errorf("%d words are in the journal, and %d were said", len(said), len(acknowledged))
	}
}

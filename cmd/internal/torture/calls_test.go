//go:build linux

package torture

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPointsInAList(t *testing.T) {
	list := []called{
		{unix.SYS_OPENAT, 0, unix.O_RDONLY}, {unix.SYS_READ, 0, 10}, {unix.SYS_READ, 3, 10},
		{unix.SYS_OPENAT, 0, unix.O_WRONLY | unix.O_CREAT}, {unix.SYS_WRITE, 3, 1}, {unix.SYS_WRITE, 3, 1},
	}
	want := []point{{unix.SYS_OPENAT, 1, false}, {unix.SYS_OPENAT, 2, true}, {unix.SYS_WRITE, 1, true}, {unix.SYS_WRITE, 2, true}}
	if got := pointsIn(list); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := readsInput(list); got != 1 {
		t.Errorf("the input is read by call %d", got)
	}
}

func TestFaultAtAPoint(t *testing.T) {
	write := point{unix.SYS_WRITE, 3, true}
	if got := breaks(unix.EIO).at(write, "/f"); !strings.Contains(got, ",") {
		t.Errorf("a fault that lasts is one of other calls, too: %s", got)
	}
	sync := breaks(unix.EIO).at(point{unix.SYS_FSYNC, 3, true}, "/f")
	if strings.Contains(sync, ",1,") || strings.Contains(sync, ",1 ") {
		t.Errorf("nothing can be told: %s", sync)
	}
}

package ttcmd

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/talking-stick/tt/fsroom/turn"
)

func TestRoomTree(t *testing.T) {
	for _, test := range []struct{ paths, want []string }{
		{nil, nil},
		{[]string{"/a"}, []string{"/a"}},
		{[]string{"/a/b/c", "/a"}, []string{"/a", "└ b/c"}},
		{
			[]string{"/a-b", "/a/web", "/a/api/v1/x", "/a", "/a/api", "/b/c", "/a/api-2"},
			[]string{"/a", "└ api", "  └ v1/x", "└ api-2", "└ web", "/a-b", "/b/c"},
		},
		{[]string{"/x", "/"}, []string{"/", "└ x"}},
	} {
		var rooms []turn.RoomView
		for _, path := range test.paths {
			rooms = append(rooms, turn.RoomView{CanonicalPath: filepath.FromSlash(path)})
		}
		var got []string
		for _, r := range roomTree(rooms) {
			got = append(got, filepath.ToSlash(r.name))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.paths, got, test.want)
		}
	}
}

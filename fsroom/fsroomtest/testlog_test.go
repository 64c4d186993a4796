package fsroomtest

import "testing"

func TestInputs(t *testing.T) {
	const log = `# test log
getenv HOME
open /tmp/room/journal.jsonl
stat testdata
open testdata/a
open testdata/a
open /src/mod/fsroom/testdata/a
open /tmp2/a
stat /dev/shm/a
chdir /tmp/room
stat /tmp/room
open journal.jsonl
chdir /src/mod/cmd
open testdata/a
what is to come
`
	const want = `# test log
getenv HOME
stat testdata
open testdata/a
open /src/mod/fsroom/testdata/a
open /tmp2/a
chdir /tmp/room
open journal.jsonl
chdir /src/mod/cmd
open testdata/a
what is to come
`
	if got := string(inputs([]byte(log), "/tmp", "/dev")); got != want {
		t.Errorf("%s", got)
	}
}

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
stat /src/mod
stat /src/module
getenv HOME
open ../../outside
stat ../go.mod
chdir /tmp/room
open journal.jsonl
open testdata/a
chdir /src/mod/cmd
open testdata/a
chdir /src/mod/fsroom
open testdata/a
what is to come
`
	const want = `# test log
getenv HOME
stat testdata
open testdata/a
stat /src/mod
stat ../go.mod
chdir /tmp/room
chdir /src/mod/cmd
open testdata/a
chdir /src/mod/fsroom
what is to come
`
	if got := string(inputs([]byte(log), "/src/mod/fsroom", "/src/mod")); got != want {
		t.Errorf("%s", got)
	}
	if got := string(inputs([]byte(log), "/src/mod/fsroom", "/")); len(got) < len(want) {
		t.Errorf("without a module, files are missing:\n%s", got)
	}
}

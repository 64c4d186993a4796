package fsroom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/doctor"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
	"github.com/talking-stick/tt/journal/wire"
)

// A cover is the part of a state.json that tells what of the journal is in it.
type cover struct {
	Offset  int64 `json:"offset"`
	Seq     int64 `json:"event_seq"`
	Turn    int64 `json:"turn_id"`
	MTimeNS int64 `json:"mtime_ns"`
}

// seal returns the state.json of a state, with the sum that the documentation describes.
func (c cover) seal(state []byte) []byte {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%d %d %d %d %s", c.Offset, c.Seq, c.Turn, c.MTimeNS, state)
	covered, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"format":1,"rules":2,"room":"demo","journal":%s,"fnv1a":"%x","state":%s}`+"\n", covered, sum.Sum64(), state)
}

// stickRoom is a room of the talking stick, byte for byte the same each time.
func stickRoom(f *testing.F) (*fsroom.Room[*stick], *fsroom.Snapshot[*stick], cover) {
	f.Helper()
	began := time.Unix(1_767_323_045, 0)
	o := fsroom.Options{NewID: func() string { return "id" }, Now: func() time.Time { return began }}
	r := fsroom.At(openStore(f, filepath.Join(tempDir(f), "data"), o), stickRules, "demo")
	var now *fsroom.Snapshot[*stick]
	for _, step := range []passer{stickJoin("a"), stickJoin("b"), stickTake("a"), stickRelease("a"), stickSend("b"), stickTake("b")} {
		snap, _, err := r.Update(context.Background(), func(s *stick) ([]event.Event, error) {
			return step(s, turn.Facts{Now: turn.At(began, "boot", time.Hour)})
		})
		if err != nil {
			f.Fatal(err)
		}
		now = snap
	}
	if err := os.Chtimes(r.JournalPath(), began, began); err != nil {
		f.Fatal(err)
	}
	return r, now, cover{now.Position.Offset, now.Position.Seq, now.State.Turn, began.UnixNano()}
}

// FuzzState: whatever is in state.json, the room is what the journal says, or is
// refused as one of a newer version. Nobody but us writes a wrong state with a
// right sum: that one is believed where it reads at all, means one thing, and is
// found by Check.
func FuzzState(f *testing.F) {
	r, now, covered := stickRoom(f)
	state := wire.Append(nil, now.State)
	file := covered.seal(state)
	write := func(t testing.TB, content []byte) {
		if err := os.WriteFile(filepath.Join(r.Dir(), "state.json"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(f, covered.seal(bytes.Replace(state, []byte(`"owner":"b"`), []byte(`"owner":"c"`), 1)))
	if snap, err := r.View(); err != nil || snap.State.Owner != "c" {
		f.Fatalf("the sum is not as documented: %+v, %v", snap, err)
	}
	for _, edit := range []struct{ old, new string }{
		{"", ""}, {`"format":1`, `"format":2`}, {`"format":1`, `"format":9223372036854775808`}, {`"format":1`, `"format":0,"format":1`}, {`"fnv1a":"`, `"fnv1a":"0`},
		{`"event_seq":`, `"event_seq":9`}, {"{", "\xef\xbb\xbf{"}, {",", ",\r\n"}, {"\n", "\x00\x00"}, {`"state":{`, `"state":null,"x":{`},
	} {
		f.Add(bytes.Replace(file, []byte(edit.old), []byte(edit.new), 1), false)
	}
	for _, edit := range []struct{ old, new string }{
		{"", ""}, {`"owner":"b"`, `"owner":"\u001b[2J\u0000"`}, {`"owner":"b"`, `"owner":"x","owner":"nobody"`}, {`"owner":"b"`, `"owner":"` + "\xff" + `"`},
		{`"members":[`, `"members":[{},`}, {`"members":[`, `"members":[` + strings.Repeat("[", 300)}, {`"turn_id":`, `"turn_id":-9223372036854775808`},
		{`"owner_lease_ttl_ms":`, `"owner_lease_ttl_ms":-9`}, {`"open":true`, `"open":false`}, {`"open":true`, `"open":null,"unknown":[1e999]`}, {`{`, `[`},
	} {
		f.Add(bytes.Replace(state, []byte(edit.old), []byte(edit.new), 1), true)
	}
	f.Fuzz(func(t *testing.T, content []byte, seal bool) {
		if seal {
			content = covered.seal(content)
		}
		write(t, content)
		snap, err := r.View()
		switch {
		case code.Of(err) == code.UnsupportedFormat:
		case err != nil:
			t.Fatalf("%q: %v", content, err)
		case reflect.DeepEqual(snap.State.Clone(), now.State.Clone()) && snap.Position == now.Position:
		case !seal:
			t.Fatalf("%q: %+v at %+v", content, snap.State, snap.Position)
		default:
			checkBelieved(t, r, snap)
		}
	})
}

// checkBelieved holds a state that the journal does not know to what is promised.
func checkBelieved(t *testing.T, r *fsroom.Room[*stick], snap *fsroom.Snapshot[*stick]) {
	t.Helper()
	written := wire.Append(nil, snap.State)
	again := turn.New("")
	if err := wire.Decode(written, again); err != nil || !reflect.DeepEqual(again.Clone(), snap.State.Clone()) {
		t.Fatalf("%+v is written as %s and read as %+v (%v)", snap.State, written, again, err)
	}
	if len(doctor.Check(r)) == 0 {
		t.Fatalf("Check finds nothing wrong with %s", written)
	}
}

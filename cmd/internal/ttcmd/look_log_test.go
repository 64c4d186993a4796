package ttcmd

import (
	"strings"
	"testing"

	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/journal/event"
)

// TestEveryEventHasWordsInTheLog: no type of event is shown by its raw name.
func TestEveryEventHasWordsInTheLog(t *testing.T) {
	for _, name := range turn.EventTypes() {
		e := &event.Event{Seq: 7, Turn: 3, Type: name, From: "a:1", To: "b:1", Payload: []byte(`{"span":"turn","turn_id":3,"lost_from":5,"lost_to":6}`)}
		var book turn.LogBook
		if _, made := book.Add(e); made != nil {
			if words := entryWords(made, ""); words == "" || strings.Contains(name, "_") && strings.Contains(words, name) {
				t.Errorf("%s: %q", name, words)
			}
		}
	}
}

// TestUncountedLinesAreNamed: counts of lines that are not those of all files say so.
func TestUncountedLinesAreNamed(t *testing.T) {
	c := &ledger.Changes{Files: 1500, Added: 400, Uncounted: 1100}
	if words := changesWords(c); words != "1500 files, +400 −0 (lines of 1100 not counted)" {
		t.Error(words)
	}
}

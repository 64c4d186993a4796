package mirror

import (
	"github.com/talking-stick/tt/fsroom/engine"
)

// A chain tells the changes of a room from other entries. Who may write to an engine can write
// anything, and nobody can take it out again. So a change is an entry whose lines are events that
// follow those of the changes before it; others are skipped, by every host alike.
type chain struct {
	seq     int64 // of the last event
	gap     int64 // of the last event of an entry that left some out; 0: none did
	lost    bool  // another entry followed that one: the engine has lost those between
	skipped []engine.Revision
}

// follows reports whether an entry with lines is the next change.
func (c *chain) follows(e engine.Entry) bool {
	events, err := decodeChange(e.Lines)
	for i := range events {
		if events[i].Seq != events[0].Seq+int64(i) {
			err = errLinesLost
		}
	}
	switch {
	case err == nil && events[0].Seq == c.seq+1:
		c.seq, c.gap = c.seq+int64(len(events)), 0
		return true
	case err == nil && events[0].Seq > c.seq:
		c.lost = c.lost || events[0].Seq == c.gap+1
		c.gap = events[len(events)-1].Seq
	}
	c.skipped = append(c.skipped, e.Revision)
	return false
}

// err returns [engine.ErrRewound] if the engine does not have what entries follow: they go on
// after a gap, or from the beginning on there is nothing else.
func (c *chain) err() error {
	if c.gap > 0 && (c.lost || c.seq == 0) {
		return engine.ErrRewound
	}
	return nil
}

package mailbox

import (
	"context"
	"encoding/json"

	"github.com/talking-stick/tt/fsroom/turn"
)

// changes returns what changed in the tree since the agent's last turn, as a JSON array, and
// how many changes before them there were. What cannot be read is left out, and so is a turn
// that changed nothing.
func (m *Mailbox) changes(ctx context.Context, st *turn.State) (list json.RawMessage, more int) {
	since, more := st.ChangesSince(m.Room.Self.ID)
	if len(since) == 0 {
		return nil, 0
	}
	at, done, err := m.Room.FS.Lookup(ctx)
	if err != nil {
		return nil, 0
	}
	defer done()
	for _, c := range since {
		e, err := at(c.Seq)
		if err != nil || len(e.Payload) == 0 {
			more++
			continue
		}
		if turn.ChangedNothing(e) {
			continue
		}
		list = append(append(list, ','), turn.ToldChange(e.Payload)...)
	}
	if len(list) == 0 {
		return nil, more
	}
	list[0] = '['
	return append(list, ']'), more
}

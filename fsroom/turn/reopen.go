package turn

import "github.com/talking-stick/tt/journal/event"

// Reopen returns the event that would open the room as the state knows it, to
// stand for one that was damaged. The policy is today's: where it was changed
// since, the journal goes on to say so.
func Reopen(s *State) event.Event {
	e := event.Event{Type: RoomOpened, Payload: payload(&openedPayload{
		Format: Format, CanonicalPath: s.CanonicalPath, WorkspaceRoot: s.WorkspaceRoot, Policy: s.Policy,
	})}
	if len(s.Members) > 0 {
		e.From = s.Members[0].AgentID
	}
	return e
}

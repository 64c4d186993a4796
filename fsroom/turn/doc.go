// Package turn is the protocol of the talking stick as pure functions.
//
// A room is a [State], the fold of its journal. Each request of an agent is one
// function: it looks at the state and at the [Facts] of the moment and returns
// either the events that carry it out or a refusal. Nothing here reads a clock,
// a disk or the process table, and nothing changes the state but [State.Apply],
// which is the same code for a live command, after a crash and in a backup.
//
// The stick goes round like this:
//
//	idle ──claim──▶ owned ──release──▶ reserved ──claim──▶ owned …
//	                  │  ▲                 │
//	                  │  └────takeover─────┘
//	                  └──release, nobody ready──▶ idle, with a pending handoff
//
// A grant (claim or takeover) starts a new turn: turn_id goes up by one and a
// new lease is issued. Nothing else changes turn_id. The lease is the fencing
// token: whoever acts on a turn shows turn_id and lease_id, and a holder that
// was overtaken can change nothing any more.
//
// Start reading at state.go, then grant.go and release.go.
package turn

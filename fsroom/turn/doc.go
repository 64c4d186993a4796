// Package turn is the protocol of the talking stick as pure functions.
//
// A room is a [State], the fold of its journal. Each request of an agent is one
// function. It is given the state and the [Facts] of the moment, and returns either
// the events that carry out the request or a refusal. Nothing here reads a clock, a
// disk or the process table, and only [State.Apply] changes the state: the same code
// runs for a live command, after a crash and for a backup.
//
// The stick goes round like this:
//
//	idle ──claim──▶ owned ──release──▶ reserved ──claim──▶ owned …
//	                  │  ▲                 │
//	                  │  └────takeover─────┘
//	                  └──release, no other member ready──▶ idle, with a pending handoff
//
// A grant, which is a claim or a takeover, begins a new turn: turn_id goes up by one,
// and a new lease is issued. Nothing else changes turn_id. The lease is the fencing
// token: an agent that acts on its turn shows turn_id and lease_id, and an owner whose
// turn was taken over can change nothing any more.
//
// Each rule has a file:
//
//	state.go, apply.go    what a room is, and how events change it
//	grant.go              who may claim the turn
//	release.go            who is next, offer.go: who is told that a turn is free
//	takeover.go           who may take over, and what speaks for it
//	fence.go              who holds the stick
//	presence.go           who is gone, active, ready
//	reach.go              how an agent can be reached, and when it hears of a message
//	notify.go             who is notified of a change, and when a waiting agent looks again
//	member.go             joining, leaving, removing; rooms that end by themselves
//	briefing.go           what comes with a turn
//	loss.go, log.go       how a turn was lost; the history as people read it
package turn

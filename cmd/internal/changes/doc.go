// Package changes joins rooms and the ledgers of their trees: it records what each turn
// changed, writes that into the room's journal, and says it to whom it concerns.
//
// A turn never waits for the ledger longer than the room's policy says. The end of a turn is recorded
// by the process that ends it, as soon as it begins to; what changed is part of the change that ends
// the turn. The rest is done by processes of their own, "tt record":
//
//   - the first snapshot, when a turn is asked for and there is none yet;
//   - the beginning of a turn, started by its guardian;
//   - the end of a turn of which the process that ended it did not know in time what it changed, which
//     writes that into the journal later.
//
// What a process that was killed has not added is added at the beginning of the next turn.
package changes

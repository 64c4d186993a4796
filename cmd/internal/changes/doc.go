// Package changes joins rooms and the ledgers of their trees: it records what each turn
// changed, writes that into the room's journal, and says it to whom it concerns.
//
// A turn never waits for the ledger longer than the room's policy says. The work is done by
// processes of their own, "tt record":
//
//   - the first, when a turn is asked for and there is no snapshot yet;
//   - one started by the guardian of a turn, for its beginning;
//   - one started by the command that ends the turn, before it does. It keeps the result in
//     pending/ in the store, and tells the command by a byte. The command takes the result
//     from there while it has the room's lock. If it has given up waiting, the process finds
//     nobody who reads, locks the room itself, and adds the event.
package changes

// Package fsroom keeps rooms in directories: the data directory, the journal and
// projection of each room, the one way to change it, and waiting for changes.
//
// The package does not know what a room is for. [Rules] bring a state and the function that
// folds an event into it; the talking stick is one set of rules and the topics of the
// agent bus are another.
//
//	<data dir>/format                        the version of this layout
//	          /rooms/<name>-<hash>/lock          flock target; never removed or renamed
//	                              /journal.jsonl the truth, append-only
//	                              /state.json    its projection, replaced atomically
//	                              /tmp/          where state.json is written before its rename
//	                              /agents/<agent>/ what is no event: see [Agent]
//	          /archive/<name>-<hash>/<first>-<last>.jsonl   journals of ended lives
//
// A change, in order; the numbers stand in the code:
//
//  1. The caller gathers facts.
//  2. The room is locked, by flock with a deadline.
//  3. state.json is read, the journal's lines beyond it are folded in, and a torn tail is
//     cut off. If the journal was ahead, it is synced and state.json replaced before
//     anything is appended.
//  4. The rules decide. A refusal has written nothing.
//  5. Before the first line of a journal the directories that have its name and their
//     names are synced. Agents that the change concerns are notified; they wait for the
//     lock before they read. All lines of the change are appended by one write and synced.
//     This is the commit: before it nothing has happened, after it nothing is reported as
//     failed.
//  6. state.json is replaced. It is a cache: if it is lost, the next command folds the
//     journal.
//  7. The room is unlocked.
//
// Reading takes no lock: a rename is atomic, and a journal only grows.
package fsroom

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
//  1. The caller looks at the room, without its lock, and gathers what takes time and cannot
//     change its meaning: verdicts on processes, which are named by pid and exact start.
//  2. The room is locked, by flock with a deadline.
//  3. state.json is read, the journal's lines beyond it are folded in, and a torn tail is
//     cut off. If the journal was ahead, it is synced and state.json replaced before
//     anything is appended.
//  4. The facts are gathered: times, and the files and marks of agents. The rules decide. A
//     refusal has written nothing.
//  5. Before the first line of a journal the directories that have its name and their
//     names are synced. Agents that the change concerns are notified; they wait for the
//     lock before they read. All lines of the change are appended by one write and synced.
//     This is the commit: before it nothing has happened, after it nothing is reported as
//     failed.
//  6. state.json is replaced, by a file that was written and synced beside the journal's sync.
//     It is a cache: if it is lost, the next command folds the journal.
//  7. The room is unlocked. Only then the file system frees the old state.json, which was kept open.
//
// Reading takes no lock: a rename is atomic, and a journal only grows.
//
// Facts are gathered while the room is locked because much of what they say is no event: an
// owner that comes back starts a guardian and leaves marks, and the journal stays as it is.
// A takeover that was decided on an earlier look would then commit although its reason is
// gone, and two agents would hold one stick. So facts are valid for one call of a [Decision]
// only, as a transaction is only within its callback. Who relies on having been seen, as an
// owner that is told that it still has the turn, leaves its marks first and takes the lock
// after that: then either it sees the other's change, or the other sees its marks. For the
// same reason a guardian that is about to end because its agent has, looks again there.
package fsroom

// Package ledger records what the files of a directory were at moments that matter, shows
// what changed between two of them, and puts files back. It knows no rooms and no turns but
// by number: who asks for a snapshot says what it stands for.
//
// A [Ledger] is the store of one tree. A snapshot is a git tree object with the raw bytes of
// every file that git tracks or would show as untracked. The store is a bare git directory
// that any git can read:
//
//	<data dir>/trees/<name>-<hash>/
//	    lock               flock; one scan, restore or prune at a time
//	    HEAD config refs/  a bare git directory without references
//	    objects/pack/      packs of our own, named tt-, and hard links to those of the user's
//	                       repository, which survive whatever happens there
//	    stat               what each file was when its content was read; may be lost
//	    snapshots.jsonl    one line a snapshot
//	    applying.json      a restore that has begun, see [Ledger.Do]
//	    verdicts.list      which commands have succeeded on which trees, see [Verdict]
//
// Nothing is written below the user's .git, and no git program is started. What a scan cannot
// read keeps its last entry and is named in [Snapshot.LeftOut]; what git ignores, and what is
// one of too many, has none, and is in [Snapshot.Ignored] if it is there: that any other path is
// missing from a tree always means that the file did not exist. A scan that fails writes no
// snapshot at all.
//
// A snapshot, in order: lock; read the stat cache; walk the tree; read what has changed, into
// one temporary pack, unless the user's repository has it; write the trees of directories that
// differ; give the pack its name, the index last, which makes it count; append the line; call
// [Request.Ready]; sync the pack, its index, which gets the name that git looks for, and the
// line; replace the stat cache. A process that is killed leaves the store as it was and a
// temporary file that the next scan removes, or a whole pack that the next scan syncs; so does one
// that leaves the syncs to others, see [Request.Unsynced]: it puts what others have left so into its own pack. A pack that a power cut has damaged has
// an index of another name still, and goes. The line of a snapshot whose trees went with it
// does not count, and goes with the next snapshot; its number is not given again.
package ledger

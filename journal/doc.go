// Package journal is one append-only file of events: the truth of a room.
//
// The file is JSON Lines. Every line is one whole [event.Event] and ends in '\n'.
// event_seq goes up by exactly one from line to line; the first line may start
// at any number, because a room that is used again goes on counting.
//
// A change is the events that one command commits together. It is appended by
// one write and one fdatasync, and every line but its last carries "more":true.
// A change that is not whole was never committed: readers skip it and the next
// writer cuts it off. What a crash can leave of the last change of a file, which is
// then called torn as a whole, is
//
//   - a line without its newline (a process killed in mid-write leaves one:
//     the kernel stops between pages, so short lines are torn as well),
//   - lines that all say "more":true,
//   - lines some of which have NUL bytes, which is what a file system may leave
//     of a page it had no time to write.
//
// What is known to have been committed ([Log.SetCommitted]) is never torn.
// Everything else that does not read is damage, told as a [CorruptError].
//
// What this assumes of the file system: a write to a file opened with O_APPEND
// goes to its end as one piece among other writers; fdatasync that returns nil
// means the bytes and the file's length survive a power cut; bytes that
// were synced are not harmed by a later append. Local file systems keep these
// promises, network ones do not.
//
// Readers need no lock. Writers do: the caller of [Log.Append] and [Log.Cut]
// holds the room's lock, from reading the end of the file to the append.
package journal

// Package journal is one append-only file of events, which has the whole truth about a
// room.
//
// The file is JSON Lines. Every line is one [event.Event] and ends in '\n'. event_seq
// increases by one from line to line. The first line may have any number, because a room
// that is used again continues to count.
//
// A change is the events that one command commits together. It is appended by one write
// and one fdatasync, and all its lines but the last have "more":true. A change that is not
// complete was never committed: readers ignore it and the next writer removes it. A crash
// can leave a part of the last change of a file, which is then torn as a whole:
//
//   - a line without its newline (a process that is killed while it writes leaves one:
//     the kernel stops between pages, so short lines are torn as well),
//   - lines that all have "more":true,
//   - lines some of which have NUL bytes, which a file system may leave of a page that it
//     had no time to write.
//
// Lines that are known to have been committed ([Log.SetCommitted]) are never torn. Every
// other line that cannot be read is damage and reported as a [CorruptError].
//
// The package relies on the file system: a write to a file opened with O_APPEND goes to its
// end and does not mix with other writes; when fdatasync returns nil, the bytes and the
// length of the file survive a power cut; a later append does not harm bytes that were
// synced. Local file systems do this, network file systems do not.
//
// Readers need no lock. Writers do: the caller of [Log.Append] and [Log.Cut] has the room's
// lock, and took it before it read the end of the file.
package journal

// Package queue is a first come, first served lock for commands: a directory with one
// ticket for each process that has the lock or waits for it.
//
// The directory has a file named lock, a mutex that is held for moments, and the
// tickets: 000000000017.json is the ticket with number 17, see [Ticket]. A process
// draws the next number under the mutex, locks the first byte of its ticket, and
// keeps the ticket open. The kernel releases that record lock when the process ends,
// however it ends.
//
// A ticket counts as long as one of two witnesses speaks for it: its record lock is
// held, or the process that it names lives. One alone would not do. A command that
// closes all its descriptors, as sudo does, loses the record lock; and a process in
// another pid namespace cannot be looked up. Processes are looked up by a [Processes]
// of the caller.
//
// The record lock is a classic one of POSIX, which belongs to the process: it survives
// exec, so that a command can take the place of the process that waited, and children
// do not inherit it, so that a daemon which the command leaves behind does not keep
// the lock. It has a trap: when the process closes any descriptor of the file, the
// lock is gone. [Queue.List] and [Queue.Acquire] therefore never close a ticket of
// their own process.
//
// A lock is granted under the mutex only, by the rule of [Blockers], and a grant is
// written into the ticket. Tickets of processes that have ended are removed by the
// next draw.
package queue

// Package mirror is the backend of rooms that several hosts share by an engine, see
// [fsroom.Backend]. Only programs that have engines link it.
//
// The engine orders the changes of a room and keeps them, and the room's files are what has
// been fetched so far. Commands fetch before they take the room's lock, and read nothing but
// the mirror while they have it: a process that is stopped while it waits for the network
// must not keep others out.
package mirror

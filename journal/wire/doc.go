// Package wire reads and writes JSON without reflection.
//
// A tt command runs for a millisecond, and encoding/json spends a fifth of one on
// learning about the types that it meets before it reads the first byte. So whatever
// every command reads or writes goes through this package: a [Parser] of text,
// functions that append to it, and a [Codec], with which a type lists its fields once
// for reading and writing.
package wire

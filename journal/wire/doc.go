// Package wire reads and writes JSON without reflection.
//
// A tt command lives for a millisecond, and encoding/json spends a fifth of one
// on learning about the types it meets before it reads the first byte. What is
// on the way of every command therefore goes through here: a [Parser] over
// text, functions that append to it, and a [Codec], with which a type lists
// its fields once for both directions.
package wire

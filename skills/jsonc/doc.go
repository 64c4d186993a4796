// Package jsonc adds entries to somebody else's JSON file and takes them out
// again, leaving every other byte alone.
//
// Settings files are written by hand: with comments, trailing commas, tabs,
// CRLF line ends, a byte order mark. So nothing is decoded and encoded again.
// The document is parsed only to know where things are, and a change is a
// splice: a few bytes inserted, or the same bytes cut out.
//
// An insertion goes behind everything that a container already has, its
// comments included, and brings its own comma and white space. Taking the entry
// out removes exactly that. Two things cannot be seen afterwards: whether an
// empty container was there before, and what an empty container looked like.
// They are what [Undo] remembers.
package jsonc

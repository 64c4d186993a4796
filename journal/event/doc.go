// Package event is what an event is, and the line of JSON that it is written as.
//
// It knows of no file: package journal keeps the lines. The pure rules in
// fsroom/turn and fsroom/topic decide in events and are folded from them, so they
// import this package and not the journal.
package event

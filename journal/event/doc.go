// Package event defines an event and the line of JSON in which it is written.
//
// It knows no files: package journal keeps the lines. The pure rules in fsroom/turn
// and fsroom/topic decide in events and fold them, so they import this package and
// not the journal.
package event

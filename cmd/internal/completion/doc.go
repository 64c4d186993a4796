// Package completion completes command lines in bash, zsh and fish.
//
// The scripts that a shell loads know nothing of the commands: at every TAB they
// ask the program, with a hidden command, what may stand at the cursor, so that
// they are never older than the program. [Find] answers from the table of
// commands; what only the program can know, such as the agents of a room, it asks
// for as a [Slot].
package completion

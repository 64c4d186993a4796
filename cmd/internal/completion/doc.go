// Package completion completes command lines in bash, zsh and fish.
//
// The scripts that a shell loads contain no commands. At every TAB they run a hidden
// command of the program, so that they are never older than the program. [Find]
// completes from the table of commands. The values that are not in the table, such
// as the agents of a room, come from a function that the program passes to it.
package completion

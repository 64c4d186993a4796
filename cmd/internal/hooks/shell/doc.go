// Package shell tells what a shell command would change, without running it.
//
// [Classify] parses a command as a Bourne shell does and follows it: through pipes,
// loops, functions and subshells, with the directory of each command and the values of
// its variables as far as the text tells them. A table says which programs write, and
// which of their words name what is written.
//
// It is made for a guard for which a wrong refusal is worse than a miss:
//
//   - Only a path decides. What is written elsewhere is reported with its path.
//   - Nothing is guessed. A program that is not in the table, a script and a target that
//     the text does not tell are listed as unknown.
//   - Programs in other languages, such as the argument of python -c, are searched for
//     calls that write, not parsed.
//   - Builds, tests and installations from a lock file are no writes, whatever they write.
//
// The grammar is that of Bash. A text with a syntax error is followed up to the command that
// has it.
//
// It reads no file, starts no process and needs no clock.
package shell

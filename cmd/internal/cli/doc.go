// Package cli runs the commands of tt and agent-bus. It has the table of commands,
// strict flags, help, the environment of the process as a value, and all output.
//
// A [Program] is a table of [Command] values. The main function of a program is one
// line, cli.Execute(program). The parser, the help pages, the suggestions for
// misspelled words, completion and the manual pages all read the same table, so
// they cannot disagree.
//
// # Output
//
//   - Results go to standard output, everything else to standard error.
//   - A result is one JSON document or a text for people; a command that streams
//     writes JSON Lines, each in one write.
//   - An error is one line, "tt: MESSAGE (CODE)", and its hint a second one,
//     "hint: …"; in JSON mode it is one object on one line.
//   - Text from another agent is never printed raw: see [Line] and [Block]. The
//     methods of [Text] and [Table] do this to their arguments.
//   - Help has no effect: it calls no command's Run and opens no file.
//
// # Exit status
//
// 0 done; 1 refused or failed; 2 wrong usage. A command documents its other
// statuses and returns them with [Exit]. When the reader of the output has gone, a
// stream ends silently with 0, because its reader has seen enough. Any other
// command ends with 1 and reports that its result was lost.
package cli

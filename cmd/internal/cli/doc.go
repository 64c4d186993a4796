// Package cli is what the programs tt and agent-bus share: a table of
// commands with strict flags and help, the environment of the process as a
// value, and everything that is said to the caller.
//
// A program is a [Program]: a table of [Command] values and a few sentences. Its
// main function is one line, cli.Execute(program). From the table come the
// parser, the help pages, the suggestions for misspelled words, and whatever else
// walks it (completions, manual pages), so that none of them can disagree.
//
// # Rules of speech
//
//   - Results go to standard output, everything else to standard error.
//   - A result is one JSON document or a text for people; a command that streams
//     writes JSON Lines, each in one write.
//   - A refusal is one line, "tt: MESSAGE (CODE)", and its next move a second one,
//     "hint: …"; in JSON mode it is one object on one line.
//   - What another agent wrote is never printed raw: see [Line] and [Block].
//     [Text] and [Table] do this to their arguments by themselves.
//   - Help acts on nothing: no command's Run is called and no file is opened.
//
// # Exit status
//
// 0 done; 1 refused or failed; 2 wrong usage; what [Exit] says where a command
// documents a status of its own. When the reader of the output has gone, a
// stream of items ends silently with 0, as its reader has seen enough; any other
// command ends with 1 and says that its result was lost.
package cli

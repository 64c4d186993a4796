// Package hook implements the guards: hooks that a harness runs before its agent ends
// a turn or a tool writes a file.
//
// A harness runs a command, writes JSON to its standard input and reads the answer
// from its standard output. [Decode] reads the input of a harness, [Decide] applies
// the rule, and [Answer] returns the answer in the form that the harness expects.
// There are two guards:
//
//   - the stop guard holds back, once, an agent that has the stick or for which it
//     is reserved, and tells it how to hand over;
//   - the edit guard refuses a write while another agent has the stick.
//
// If a guard cannot find out, it permits and prints nothing: a broken hook must not
// keep anybody from working. For the same reason the exit status does not matter:
// only a refusal on standard output refuses.
package hook

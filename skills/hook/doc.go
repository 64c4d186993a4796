// Package hook is what happens when a harness asks, before it ends its turn or
// lets a tool write a file, whether that is all right.
//
// A harness runs a command of ours, writes a JSON payload to its standard input,
// and reads the answer from its standard output. Every harness has its own
// payload and its own way of saying no; [Decode] and [Answer] know them. The
// rule in between is the same for all and is [Decide]:
//
//   - the stop guard holds back, once, an agent that still has the stick or
//     has it reserved, and tells it the way out;
//   - the edit guard refuses a write while somebody else has the stick.
//
// A guard that cannot tell lets everything pass and says nothing: a broken
// hook must not stop anybody from working. For the same reason nothing depends on
// the exit status; a "no" is a document on standard output, and whatever else
// the command may print or return is a "yes".
package hook

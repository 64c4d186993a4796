// Package hook implements the hooks that harnesses run for Talking Stick.
//
// A harness runs a command, writes JSON to its standard input and reads the answer
// from its standard output. [Decode] reads the input of a harness, and [Answer]
// returns the answer in the form that the harness expects. Two kinds are guards, whose
// rule is [Decide]:
//
//   - the stop guard holds back, once in each turn, an agent that has the stick or for
//     which it is reserved, and tells it how to hand over;
//   - the edit guard refuses a write while another agent has the stick.
//
// The other kinds tell the agent what is new: beside what its model is about to be
// asked, or, where the harness has a way to do so, by giving an idle agent a turn.
//
// If a hook cannot find out, it permits and prints nothing: a broken hook must not
// keep anybody from working. For the same reason only a refusal on standard output
// refuses, and only exit status 2 with a text on standard error wakes an agent.
package hook

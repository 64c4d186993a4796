// Package hooks is what runs when a harness calls tt for one of its events, from the
// payload on standard input to the answer, and to the wake of an idle agent:
//
//   - package payload reads the payload of a harness, and writes the answer in the form
//     that the harness expects;
//   - package guard has the rules of the two kinds that may refuse;
//   - package listen decides what an agent is told, and when it is woken.
//
// [Run] reads the payload and calls the function of the hook's kind, which is in a file with the
// name of the kind. Those that may wake an agent call [listen.Agent.DecideWake], and answer with its
// text: stop and file-changed at once, listen when there is news. The kinds, the events of each
// harness and the command lines are in package harness.
//
// If a hook cannot find out, it permits and prints nothing: a broken hook must not
// keep anybody from working. For the same reason only a refusal on standard output
// refuses, and only exit status 2 with a text on standard error wakes an agent.
package hooks

// Package reach tests, with the real harnesses, that an agent is told when its turn comes
// and what others write to it, and that it changes nothing before. The harnesses run in
// scratch homes, one at a time, with a stand-in for their model. "make reach" runs it: the
// programs come from npm into the directory TT_REACH, or a variable such as TT_REACH_CLAUDE
// names one; without both the tests are skipped. TestTable prints the table of
// docs/harness-authors.md. Programs do not say when they can be typed into, so unlike other
// tests these sleep now and then, and expect a machine that is not too busy.
package reach

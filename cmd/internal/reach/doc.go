// Package reach tests, with the real harnesses, that an agent hears when its turn comes
// and what others write to it. The harnesses run in scratch homes, one at a time, with a
// stand-in for their model. "make reach" runs it; without the programs, which the
// variables TT_REACH_CLAUDE, TT_REACH_CODEX, TT_REACH_OPENCODE and TT_REACH_GEMINI name,
// the tests are skipped. Programs do not say when they can be typed into, so unlike other
// tests these sleep now and then, and expect a machine that is not too busy.
package reach

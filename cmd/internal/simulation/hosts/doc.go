// Package hosts runs agents of three machines that share a room by an engine in memory, and looks whether what several
// hosts are promised holds. It is a test tool: no program has it.
//
// Commands and guardians are those of package member. Each is a goroutine in a bubble of testing/synctest that stops
// before and after it asks the engine, and one goes on at a time. Each machine has a clock of its own, wrong and too
// fast or slow, and its way to the engine is cut, its processes are killed and it is booted again, by a seed.
//
// # The oracles
//
// The engine's log is one history, and a turn number is granted once, with one lease. What was acknowledged is in it.
// Two agents never may write at once, as the edit guards of their machines have it: one that is cut off is refused by
// its own before another is granted the turn. Once nothing goes wrong any more, all machines see the same room, and
// each agent gets the turn.
package hosts

// Package identity answers two questions: who is calling, and is that process
// still alive.
//
// [Resolve] turns the environment and the process table into an [Agent]: an
// explicit id, a harness such as claude or codex, or the human at the keyboard.
// The same harness session gives the same id however deep the shell it calls
// from, and two sessions side by side give two.
//
// A [Process] names one process for ever: by boot, pid and exact start, so
// neither a reused pid nor a stepped clock can make one process pass for
// another. [Table] is where processes are looked up; [WatchExit] says when one
// has ended.
//
// On Linux everything is read from /proc; gopsutil serves the other systems and
// is not linked on Linux, because its start-up alone costs 0.2 ms. Nothing is
// read before it is asked for.
package identity

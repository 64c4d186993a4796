// Package identity answers two questions: who is calling, and is that process
// still alive.
//
// [Resolve] turns the environment and the process table into an [Agent]: an
// explicit id, a harness such as claude or codex, or the human at the keyboard.
// The same harness session gives the same id however deep the shell it calls
// from, and two sessions side by side give two ids. Package harness has the table
// of the known harnesses.
//
// A [Process] identifies one process for ever, by boot, pid and exact start: a
// reused pid or a stepped clock cannot make one process look like another.
// Processes are looked up in a [Table]; [WatchExit] reports the end of one.
//
// gopsutil reads the process table, and the kernel is asked for what gopsutil rounds or would
// start a program for. Nothing is read before it is needed.
package identity

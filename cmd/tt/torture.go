//go:build torture

package main

import "runtime"

// With this build the torture tests count system calls: strace counts them per
// thread, and so they are to be made by one.
func init() { runtime.LockOSThread() }

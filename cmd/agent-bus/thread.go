//go:build !torture

package main

// onThread does what a tool does, in the build for torture tests on one thread.
func onThread(do func()) { do() }

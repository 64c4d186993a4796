//go:build torture

package main

import (
	"os"
	"runtime"
)

// headStart is how many files the tools' thread opens and writes nothing to
// before it begins. They are opened for appending, as no other is that is no file.
const headStart = 50

var toDo = make(chan func())

// With this build the torture tests count system calls: strace counts them per
// thread, and so all tools run on one. It is ahead of the threads that start the
// program and speak with the client, so that a count names a call of its own.
func init() {
	go func() {
		runtime.LockOSThread()
		for range headStart {
			if null, err := os.OpenFile(os.DevNull, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				_, _ = null.Write(nil)
				null.Close()
			}
		}
		for do := range toDo {
			do()
		}
	}()
}

func onThread(do func()) {
	done := make(chan struct{})
	toDo <- func() {
		defer close(done)
		do()
	}
	<-done
}

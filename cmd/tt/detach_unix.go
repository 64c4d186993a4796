//go:build !windows

package main

import "syscall"

// detached gives a process a session of its own: no terminal, no signals meant
// for our process group.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

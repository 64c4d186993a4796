package main

import "syscall"

func detached() *syscall.SysProcAttr {
	const detachedProcess = 0x00000008
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// keepFiles has nothing to do: handles are handed down by name here.
func keepFiles() {}

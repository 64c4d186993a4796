package identity

import (
	"strconv"
	"time"
	"unsafe"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// readBootID returns a number that Windows increments at every start.
func readBootID() string {
	const path = `SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	n, _, err := key.GetIntegerValue("BootId")
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// readMonotonic returns the time since the start without the time asleep.
func readMonotonic() time.Duration {
	var hundredNanoseconds uint64
	query := windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryUnbiasedInterruptTime")
	if ok, _, _ := query.Call(uintptr(unsafe.Pointer(&hundredNanoseconds))); ok == 0 {
		return windows.DurationSinceBoot()
	}
	return time.Duration(hundredNanoseconds) * 100
}

// readUptime counts the time asleep, too.
func readUptime() time.Duration { return windows.DurationSinceBoot() }

// isZombie reports whether the process has ended. It stays in the table as long as
// any process has a handle to it.
func isZombie(pid int) bool {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(handle)
	event, err := windows.WaitForSingleObject(handle, 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// isStopped returns false: Windows does not tell.
func isStopped(int) bool { return false }

func arguments(p *process.Process) []string {
	args, err := p.CmdlineSlice()
	if err != nil {
		return nil
	}
	return args
}

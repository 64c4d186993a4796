package ttcmd

import (
	"bytes"
	"os"
	"strconv"
)

// processesOf returns the processes that have the variable in their environment.
func processesOf(variable string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	want := []byte("\x00" + variable + "\x00")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ") // empty for a zombie
		if err == nil && bytes.Contains(append([]byte{0}, environ...), want) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

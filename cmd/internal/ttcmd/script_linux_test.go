package ttcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// processesOf returns the processes that have the variable in their environment.
func processesOf(variable string) ([]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		environ, err := os.ReadFile(file) // empty for a zombie
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), append([]byte{0}, variable+"\x00"...)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

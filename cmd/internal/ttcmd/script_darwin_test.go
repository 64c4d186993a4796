package ttcmd

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// processesOf returns the processes that have the variable in their environment.
func processesOf(variable string) ([]int, error) {
	list, err := exec.Command("ps", "-axww", "-E", "-o", "pid=,stat=,command=").Output()
	if err != nil {
		return nil, err
	}
	var pids []int
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(fields[1], "Z") || !strings.Contains(line, " "+variable+" ") {
			continue
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// terminalMain is for Linux only; scripts ask before they use it.
func terminalMain() { fail(errors.New("there is no terminal to be had here")) }

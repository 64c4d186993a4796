//go:build linux

package torture

import "os"

// strace is the command line below which a program is traced. It detaches from the
// guardian, for which it would wait otherwise.
func strace(args ...string) []string {
	return append([]string{"strace", "-f", "-qq", "-b", "execve"}, args...)
}

// readTrace reads and removes what strace wrote.
func readTrace(path string) string {
	b, _ := os.ReadFile(path)
	_ = os.Remove(path)
	return string(b)
}

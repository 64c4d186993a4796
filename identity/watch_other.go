//go:build !linux

package identity

func watchExit(table Table, p Process) (<-chan struct{}, func(), error) {
	return watchByPolling(table, p, pollInterval)
}

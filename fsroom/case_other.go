//go:build !darwin && !windows

package fsroom

// trueCase is for systems whose file systems take A and a for the same name.
func trueCase(path string) string { return path }

func platformDataDir(func(string) string) string { return "" }

// Package fsroomtest verifies a data directory in tests: after whatever a test
// has done, the files must tell one story.
//
// It reads the files by itself and shares only the journal's line format and the
// rules with the storage, so that both cannot be wrong in the same way. [Main] is for the
// TestMain of a package with such tests.
package fsroomtest

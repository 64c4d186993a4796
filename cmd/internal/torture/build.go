//go:build linux

package torture

import (
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/torture/overlay"
)

// An edit is an [overlay.Edit].
type edit struct{ file, old, new string }

// oneThread makes tt do its work on one thread: strace counts the calls of each
// thread on their own.
var oneThread = edit{file: "cmd/tt/one_thread.go", new: "package main\n\nimport \"runtime\"\n\nfunc init() { runtime.LockOSThread() }\n"}

// build builds tt under a name from edited sources.
func (e *env) build(name string, edits ...edit) (string, error) {
	path := filepath.Join(e.base, name)
	var all []overlay.Edit
	for _, edit := range append(edits, oneThread) {
		all = append(all, overlay.Edit{File: edit.file, Old: edit.old, New: edit.new})
	}
	return path, overlay.Build(path, "cmd/tt", all...)
}

package identity

import (
	"os"
	"sync"
	"time"
)

// What does not change while this process runs is read once, when first asked for.
var (
	hostName  = sync.OnceValue(readHostName)
	bootID    = sync.OnceValue(readBootID)
	namespace = sync.OnceValue(readNamespace)
)

// BootID names the time since the machine started: it is the same for all
// processes of one boot and never comes again. "" when it cannot be learned.
func BootID() string { return bootID() }

// Monotonic returns the time since the machine started. All processes of one
// boot share it; it stands still while the machine sleeps, and no step of the
// wall clock moves it. Across boots ([BootID]) it says nothing.
func Monotonic() time.Duration { return readMonotonic() }

func readHostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

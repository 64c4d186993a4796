package identity

import (
	"os"
	"sync"
	"time"
)

// These do not change while this process runs. Each is read once, at its first use.
var (
	hostName = sync.OnceValue(func() string { name, _ := os.Hostname(); return name })
	// processHost is the host of processes, see [UseHost].
	processHost = hostName

	bootID    = sync.OnceValue(readBootID)
	namespace = sync.OnceValue(readNamespace)
)

// BootID identifies the current boot of the machine: it is the same for all
// processes of one boot and different for every other boot. It is "" if it cannot
// be determined.
func BootID() string { return bootID() }

// Monotonic returns the time since the machine started, without the time it was
// asleep. It is the same for all processes of one boot, and a step of the wall clock
// does not change it. Times of different boots ([BootID]) cannot be compared.
func Monotonic() time.Duration { return readMonotonic() }

// Uptime returns the time since the machine started, with the time it was asleep. It is
// the same for all processes of one boot, and a step of the wall clock does not change it.
// What others count on while this machine sleeps is measured by it.
func Uptime() time.Duration { return readUptime() }

// UseHost sets the host of the processes of this host, where it is not the host name: hosts
// that share rooms may have one name. It is called before any process is looked at.
func UseHost(name string) { processHost = func() string { return name } }

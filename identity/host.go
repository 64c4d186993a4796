package identity

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// These do not change while this process runs. Each is read once, at its first use.
var (
	hostName  = sync.OnceValue(func() string { name, _ := os.Hostname(); return name })
	boot      = sync.OnceValue(readBootID)
	namespace = sync.OnceValue(readNamespace)
)

var (
	// processHost is the host of processes, see [UseHost].
	processHost = hostName
	// hostSuffix is what the ids of people end with, see [UseHost].
	hostSuffix = ""
)

// BootID identifies the current boot of the machine: it is the same for all
// processes of one boot and different for every other boot. It is "" if it cannot
// be determined.
func BootID() string { return boot() }

// Monotonic returns the time since the machine started, excluding the time it was asleep. It is the
// same for all processes of one boot, and a step of the wall clock does not change it. Times
// of different boots ([BootID]) cannot be compared.
func Monotonic() time.Duration { return clock(awakeClock) }

// Uptime returns the time since the machine started, including the time it was asleep. It is the
// same for all processes of one boot, and a step of the wall clock does not change it. Deadlines
// that other hosts judge while this machine sleeps are measured by it.
func Uptime() time.Duration { return clock(uptimeClock) }

// clock returns the time of a kernel clock. The clocks used here cannot fail.
func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// UseHost sets the name of this host, instead of the one of the system: two hosts that share
// rooms may have the same. The id of a person then ends with "@", the host name and four digits,
// because an agent is on one host. UseHost is called before a process is looked at.
func UseHost(name string) {
	processHost = func() string { return name }
	sum := sha256.Sum256([]byte(name))
	short := slug(hostName())
	hostSuffix = "@" + cmp.Or(short[:min(len(short), longestHost)], "host") + "-" + hex.EncodeToString(sum[:2])
}

// longestHost is how much of a host name is part of an id.
const longestHost = 40

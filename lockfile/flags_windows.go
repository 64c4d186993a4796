package lockfile

import "os"

// There is no flag against links here; the check after the lock refuses them.
const lockFlags = os.O_CREATE | os.O_RDONLY

package lockfile

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkNames(t *testing.T) {
	const fuse, ext4, tmpfs, overlay, btrfs = 0x65735546, 0xef53, 0x01021994, 0x794c7630, 0x9123683e
	for number, want := range map[uint32]string{
		0x6969: "nfs", 0xfe534d42: "smb", 0x517b: "smb", 0xff534d42: "cifs", 0x01021997: "9p",
		0x5346414f: "afs", 0x6b414653: "afs", 0x00c36400: "ceph", 0x0bd00bd0: "lustre",
		fuse: "", ext4: "", tmpfs: "", overlay: "", btrfs: "",
	} {
		var st unix.Statfs_t
		setType(&st.Type, number)
		if got := networkName(&st); got != want {
			t.Errorf("%#x: got %q, want %q", number, got, want)
		}
	}
}

// setType stores a number whose top bit may be set in a field whose width and
// sign depend on the architecture.
func setType[T ~int32 | ~uint32 | ~int64](field *T, number uint32) { *field = T(number) }

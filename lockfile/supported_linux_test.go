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
		if got := networkName("/", &st); got != want {
			t.Errorf("%#x: got %q, want %q", number, got, want)
		}
	}
}

// TestMountTypes: file systems in user space are told apart by their names.
func TestMountTypes(t *testing.T) {
	const mounts = `22 27 0:21 / /proc rw,relatime - proc proc rw
36 27 0:45 / /workspaces/a\040-\040b rw shared:2 - virtiofs host rw
37 27 0:46 / /home/me rw,nosuid - fuse.encfs encfs rw
38 27 0:47 / /far rw,nosuid master:1 propagate_from:2 - fuse.sshfs me@far:/ rw,user_id=0
39 27 259:300000 / /big rw - ext4 /dev/nvme0n1 rw
40 0:48 short
`
	for device, want := range map[uint64]string{
		unix.Mkdev(0, 45): "virtiofs", unix.Mkdev(0, 46): "fuse.encfs", unix.Mkdev(0, 47): "fuse.sshfs", unix.Mkdev(259, 300000): "ext4",
		unix.Mkdev(0, 48): "", unix.Mkdev(0, 4): "", unix.Mkdev(1, 45): "",
	} {
		if got := mountType([]byte(mounts), device); got != want {
			t.Errorf("%d:%d: got %q, want %q", unix.Major(device), unix.Minor(device), got, want)
		}
	}
	if got := fuseName(t.TempDir()); got != "" {
		t.Errorf("the tests are on %s", got)
	}
}

// setType stores a number whose top bit may be set in a field whose width and
// sign depend on the architecture.
func setType[T ~int32 | ~uint32 | ~int64](field *T, number uint32) { *field = T(number) }

package supervisor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// minFree is what etcd allocates at its start (two files of its log of 64 MiB
// each, wal.SegmentSizeBytes) and some room to work. When a write
// fails later, etcd ends its process without a word to anyone.
const minFree = 192 << 20

// checkDisk reports whether etcd would find the room that it needs.
func checkDisk(dir string) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("looking at the disk of %s: %w", dir, err)
	}
	free := disk.Bavail * uint64(disk.Bsize) // the types differ between systems
	if free < minFree {
		return fmt.Errorf("the disk of %s has %d MiB free and %d are needed; make room, or set CLUSTERCTL_X_HOME to a directory on another disk", dir, free>>20, minFree>>20)
	}
	return nil
}

//go:build unix

package score

import (
	"syscall"
	"time"
)

// processorTime returns the CPU time used by this process, which is more meaningful than elapsed time on a shared
// machine.
func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

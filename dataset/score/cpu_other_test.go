//go:build !unix

package score

import "time"

// processorTime is unavailable on this system.
func processorTime() time.Duration { return 0 }

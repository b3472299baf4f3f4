//go:build !unix

package score

import "time"

// processorTime is not available on this system.
func processorTime() time.Duration { return 0 }

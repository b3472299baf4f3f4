package evalrun

import (
	"log/slog"
	"time"

	"github.com/spinachbot/spinachbot/agent"
)

// Parts are what an asker answers with. Model and Graph are those of one item and one attempt.
type Parts struct {
	Log     *slog.Logger
	Model   agent.Model
	Sources agent.Sources
	Now     func() time.Time
}

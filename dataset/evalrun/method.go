package evalrun

import (
	"context"
	"log/slog"
	"time"

	"github.com/spinachbot/spinachbot/agent"
)

// Parts are the components that an asker uses. Model and Sources are for one attempt at one item.
type Parts struct {
	Log     *slog.Logger
	Model   agent.Model
	Sources agent.Sources
	Now     func() time.Time
	// reports whether an answer to the item is correct according to gold; may be nil; see Config.UntilF1
	Right func(ctx context.Context, a *agent.Answer) bool
}

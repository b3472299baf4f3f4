package evalrun

import (
	"context"
	"log/slog"
	"time"

	"github.com/spinachbot/spinachbot/agent"
)

// Parts are the parts that an asker uses. Model and Graph are for one item and one attempt.
type Parts struct {
	Log     *slog.Logger
	Model   agent.Model
	Sources agent.Sources
	Now     func() time.Time
	// reports whether an answer to the item is right according to gold, see Config.UntilF1; may be nil
	Right func(ctx context.Context, a *agent.Answer) bool
}

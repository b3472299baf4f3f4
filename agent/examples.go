package agent

import (
	"context"
	"time"
)

// Example is an earlier question with a query that answered it, and where it was asked.
type Example struct {
	ID       string
	Question string // as it was asked: untrusted text
	SPARQL   string
	Page     string    // title of the wiki page
	Heading  string    // of the discussion: untrusted text
	Month    time.Time // when it was asked
}

// Examples finds earlier questions that are like one, best first, at most n; none is not an error. They were answered
// once: whether their queries still run is not checked. In cmd one type, over the harvested archive, is this and
// bot.Similar.
type Examples interface {
	Examples(ctx context.Context, question string, n int) ([]Example, error)
}

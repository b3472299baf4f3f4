package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// breakingFinder is a finder that panics for some search texts.
type breakingFinder struct{}

func (breakingFinder) Find(_ context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	if q.Text == "bad" {
		panic("a broken finder")
	}
	return &kg.SearchResult{}, nil
}

type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }

// If a finder panics in one of several parallel searches, the search returns an error and the program does not crash.
func TestFinderPanics(t *testing.T) {
	f := &recordingFinder{breakingFinder{}, event.NewLog(nowhere{}, time.Now, 0).Branch(0), ""}
	out, err := f.findAll(t.Context(), []kg.FindQuery{{Text: "good"}, {Text: "bad"}, {Text: "better"}})
	var p *safe.Panic
	if !errors.As(err, &p) || !strings.Contains(p.Where, "breakingFinder") {
		t.Errorf("the error: %v", err)
	}
	if len(out) != 3 || out[0] == nil || out[1] != nil || out[2] == nil {
		t.Errorf("the other results: %v", out)
	}
}

package graphs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
)

// TestShelf checks that a graph is opened only once, no matter how many callers request it at the same time, and that
// opening it is retried after a failure. A graph that is already open is not opened again. A name that is not in the
// list is never passed to the opener.
func TestShelf(t *testing.T) {
	main := agent.Sources{{Explain: kg.Description{Name: Main}}} // the name that the built-in slice uses for itself
	s := NewShelf(&Opener{Registry: registry.New()}, Embedded, main)
	if names := s.Names(); names[0] != Embedded || !slices.Contains(names, Main) ||
		len(names) != len(registry.New().Names())+1 {
		t.Errorf("the graphs are %v", names)
	}
	var opened atomic.Int32
	s.open = func(ctx context.Context, name string) (agent.Sources, error) {
		if ctx.Err() != nil || name != Main {
			t.Errorf("%s is opened: %v", name, ctx.Err())
		}
		if opened.Add(1) == 1 {
			return nil, errors.New("down")
		}
		return agent.Sources{{Explain: kg.Description{Name: name, Title: "opened"}}}, nil
	}
	if _, err := s.Get(t.Context(), Main); err == nil {
		t.Error("the failure is lost")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, err := s.Get(gone, Main, Embedded)
			if err != nil || len(got) != 2 || got[0].Explain.Title != "opened" || got[1].Explain.Title != "" {
				t.Errorf("%v %v", got, err)
			}
		})
	}
	wg.Wait()
	if opened.Load() != 2 {
		t.Errorf("opened %d times", opened.Load())
	}
	for _, name := range []string{"", "wikidata,embedded", "file:///etc/passwd"} {
		if _, err := s.Get(t.Context(), name); err == nil || !strings.Contains(err.Error(), "the graphs are") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

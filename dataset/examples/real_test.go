package examples

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
)

// Each published benchmark must hold back all of its own items and few items from other benchmarks.
func TestPublishedSets(t *testing.T) {
	read := func(name string) []dataset.Item {
		dir := os.Getenv("SPINACHBOT_SHARED")
		if dir == "" {
			dir = "../../../shared"
		}
		f, err := os.Open(filepath.Join(dir, "data", "spinach", name))
		if err != nil {
			t.Skip("the published benchmarks are not available (SPINACHBOT_SHARED): ", err)
		}
		defer f.Close()
		items, _, err := dataset.ReadItems(f)
		if err != nil {
			t.Fatal(err)
		}
		return items
	}
	qald, wwq, dev := read("qald9plus-train.json"), read("wwq-dev.json"), read("dev.json")
	p := &Pool{}
	p.Add("qald9plus", qald)
	p.Add("wwq", wwq)
	p.Add("spinach", dev)
	for name, items := range map[string][]dataset.Item{"qald9plus": qald, "wwq": wwq, "spinach": dev} {
		left, gone := p.Without(Hold(items))
		if want := p.Len() - len(items); left.Len() > want || left.Len() < want*9/10 {
			t.Errorf("running %s: %d left of %d, held back %v", name, left.Len(), p.Len(), gone)
		}
		for _, it := range items {
			got, err := left.FindExamples(t.Context(), event.ExampleQuery{Text: it.Question, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range got {
				if x.Source == name || x.SPARQL == it.SPARQL {
					t.Errorf("%s %s sees %s", name, it.ID, x.ID)
				}
			}
		}
		t.Logf("running %s: held back %v, left %v", name, gone, left.Sources())
	}
}

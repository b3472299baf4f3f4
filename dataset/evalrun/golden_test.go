package evalrun

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
)

type oneLabel struct{}

func (oneLabel) Labels(context.Context, []string, []string) (map[string]string, error) {
	return map[string]string{"Q64": "Berlin"}, nil
}

func TestGolden(t *testing.T) {
	s := &agent.Source{Labels: oneLabel{}}
	for query, want := range map[string][]string{
		"SELECT ?m WHERE { wd:Q64 wdt:P6 ?m . ?m wdt:P31 wd:Q5 . wd:Q64 wdt:P17 ?c }": {"Berlin (wd:Q64)", "wd:Q5"},
		`SELECT ?n WHERE { ?e <pred:name> "Lake Como" . ?e <area> ?v . ?v <pred:unit> "metre" . ?f <pred:name> "Lake Como" }`: {
			"Lake Como"},
		`SELECT ?x WHERE { ?e ns:type.object.name "Italy"@en . ?e ns:a ?x }`: {"Italy"},
		"SELECT broken": nil,
	} {
		if d := cmp.Diff(want, golden(t.Context(), s, query)); d != "" {
			t.Errorf("%s\n%s", query, d)
		}
	}
}

package tool

import (
	"strings"
	"testing"
)

// A filter on a variable that nothing else binds is left out with the condition that bound it.
func TestProbesWithoutOpenFilters(t *testing.T) {
	probes, all := Dialect{}.probes(`SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . ?x ?p ?v . FILTER(STRSTARTS(STR(?p), "pq")) FILTER NOT EXISTS { ?x wdt:P570 ?d } }`)
	if !all || len(probes) != 4 {
		t.Fatalf("%+v", probes)
	}
	for _, p := range probes {
		withFilter := strings.Contains(p.query, "STRSTARTS")
		binds := strings.Contains(p.query, "?p ?v")
		if exists := strings.Contains(p.query, "NOT EXISTS"); withFilter && !binds || !exists && !strings.HasPrefix(p.condition, "FILTER NOT") {
			t.Errorf("without %s: %s", p.condition, p.query)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, tt := range []struct {
		p    float64
		all  bool
		want string
	}{{0.1, false, "<1%"}, {50.4, false, "50%"}, {99.9, false, ">99%"}, {100, true, "100%"}} {
		if got := percent(tt.p, tt.all); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.p, got, tt.want)
		}
	}
}

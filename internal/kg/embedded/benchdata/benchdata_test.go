package benchdata

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/rdf"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

func TestTriples(t *testing.T) {
	seen := map[[3]rdf.Term]bool{}
	Triples(func(s, p, o rdf.Term) { seen[[3]rdf.Term{s, p, o}] = true })
	if len(seen) != Size {
		t.Errorf("%d different triples, want %d", len(seen), Size)
	}
	var b strings.Builder
	if err := WriteNTriples(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), " .\n"); n != Size {
		t.Errorf("%d lines, want %d", n, Size)
	}
	const first = "<http://www.wikidata.org/entity/Q2> <http://www.wikidata.org/prop/direct/P279> <http://www.wikidata.org/entity/Q1> .\n"
	if !strings.HasPrefix(b.String(), first) {
		t.Errorf("begins with %.200q", b.String())
	}
}

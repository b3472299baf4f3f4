package sparql

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/blazegraph.txt
var blazegraphTable string

// standardOnly contains queries on which our parser differs from Blazegraph 2.1.5 on purpose, and why: SPARQL 1.1
// allows them and Blazegraph rejects them, or only we reject them.
var standardOnly = map[string]string{
	"PREFIX a: <http://a/> PREFIX a: <http://b/> SELECT * { ?x a:b ?c }": "a prefix may be declared again (section 4.1.1 does not forbid it; W3C test syn-pname)",
}

// TestBlazegraphTable checks that our parser accepts the same queries as the query service's own.
func TestBlazegraphTable(t *testing.T) {
	n := 0
	for _, line := range strings.Split(blazegraphTable, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		n++
		accepted, query := line[0] == '+', line[2:]
		q, err := Parse(query)
		if standardOnly[query] != "" {
			if (err == nil) == accepted {
				t.Errorf("%s: as in Blazegraph, so it need not be listed", query)
			}
			continue
		}
		switch {
		case accepted && err != nil:
			t.Errorf("refused: %s\n\t%v", query, err)
		case !accepted && err == nil:
			t.Errorf("accepted: %s", query)
		case err == nil:
			checkLaws(t, query, q)
		}
	}
	if n < 150 {
		t.Errorf("only %d queries in the table", n)
	}
}

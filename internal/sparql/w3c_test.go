package sparql

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// w3cTaken lists the W3C's negative tests whose queries the dialect must accept, with reasons.
var w3cTaken = map[string]string{
	"sparql11/syntax-query/syntax-BINDscope6.rq":   "BIND to a variable that is in scope: Blazegraph joins",
	"sparql11/syntax-query/syntax-BINDscope7.rq":   "as above",
	"sparql11/syntax-query/syntax-BINDscope8.rq":   "as above",
	"sparql11/syntax-query/syntax-SELECTscope2.rq": "an alias that is in scope, as in (SAMPLE(?x) AS ?x): Blazegraph accepts it",
}

// w3cEmpty contains updates without operations. They cannot be distinguished from an empty query, which is rejected.
var w3cEmpty = map[string]string{
	"sparql11/syntax-update-1/syntax-update-38.ru": "a comment only",
	"sparql11/syntax-update-1/syntax-update-39.ru": "BASE only",
	"sparql11/syntax-update-1/syntax-update-40.ru": "PREFIX only",
}

type w3cTest struct {
	name, file       string
	positive, update bool
}

// w3cTests reads the syntax tests of all manifests. Manifests are simple Turtle files: statements with rdf:type and
// mf:action.
func w3cTests(t *testing.T) []w3cTest {
	root := shared(t, "data/w3c/sparql")
	manifests, err := filepath.Glob(filepath.Join(root, "*", "*", "manifest.ttl"))
	if err != nil || len(manifests) == 0 {
		t.Fatal("no manifests", err)
	}
	kind := regexp.MustCompile(`mf:(Positive|Negative)(Update)?SyntaxTest(11)?\b`)
	action := regexp.MustCompile(`mf:action\s+<([^>]+)>`)
	var out []w3cTest
	for _, m := range manifests {
		b, err := os.ReadFile(m)
		if err != nil {
			t.Fatal(err)
		}
		at := kind.FindAllStringSubmatchIndex(string(b), -1)
		for _, k := range at {
			rest := string(b)[k[0]:]
			a := action.FindStringSubmatch(rest)
			if a == nil {
				t.Fatalf("%s: no action after %s", m, rest[:40])
			}
			file := filepath.Join(filepath.Dir(m), a[1])
			name, _ := filepath.Rel(root, file)
			out = append(out, w3cTest{name: name, file: file, positive: strings.HasPrefix(rest, "mf:Positive"),
				update: strings.HasSuffix(file, ".ru")})
		}
	}
	return out
}

func TestW3CSyntax(t *testing.T) {
	n := 0
	for _, x := range w3cTests(t) {
		b, err := os.ReadFile(x.file)
		if err != nil {
			t.Fatal(err)
		}
		n++
		q, err := Parse(string(b))
		switch {
		case x.update: // recognized as updates, whether valid or not, so that they can be rejected
			if (err != nil || q.Form != Update) && w3cEmpty[x.name] == "" {
				t.Errorf("%s: an update is not recognized: %v\n%s", x.name, err, b)
			}
		case x.positive && err != nil:
			t.Errorf("%s: refused: %v\n%s", x.name, err, b)
		case x.positive:
			checkLaws(t, x.name, q)
		case err == nil && w3cTaken[x.name] == "":
			t.Errorf("%s: accepted\n%s", x.name, b)
		case err != nil && w3cTaken[x.name] != "":
			t.Errorf("%s: refused, so it need not be listed", x.name)
		}
	}
	t.Logf("%d tests", n)
}

package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
)

func TestCallText(t *testing.T) {
	for args, want := range map[string]string{
		"Danube": "x(Danube)",
		"":       "x()",
		`{"kg":"wikidata","sparql":"SELECT ?a\nWHERE {}\n","page":2,"best":null,"more":{"a":[1, 2]}}`: "x\n  kg: wikidata\n  sparql: SELECT ?a\n    WHERE {}\n  page: 2\n  more: {\"a\":[1,2]}",
		`{"a":"red` + "\x1b[31m" + `"}`: `x({"a":"red[31m"})`, // invalid JSON, because of the control character
		`{"a":"\u001b[31m"}`:            "x\n  a: [31m",
		`{"a":1`:                        `x({"a":1)`,
		`{ ?x ?p ?y }`:                  "x({ ?x ?p ?y })",
		`{"a":1} and more`:              `x({"a":1} and more)`,
	} {
		if got := callText("x", args); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

func TestExamplesShown(t *testing.T) {
	found, err := json.Marshal([]event.Example{{ID: "dev_7", Source: "dev.json", Question: "Which rivers\nflow?",
		SPARQL: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	(&Trace{}).Event(&b, event.Event{Event: "graph", Call: &event.Call{Op: event.ExamplesOp, Result: found}})
	(&Trace{}).Event(&b, event.Event{Event: "graph", Call: &event.Call{Op: "query", Result: json.RawMessage(`{}`)}})
	if got := b.String(); got != "   1 example\n   - dev.json dev_7: Which rivers flow?\n\n" {
		t.Errorf("%q", got)
	}
}

package kg

import (
	"bytes"
	"testing"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestWriteJSONIsMarshalJSON(t *testing.T) {
	for _, x := range []Table{
		{}, {Vars: []string{"a"}}, {Ask: true, Boolean: true}, {Ask: true},
		{Vars: []string{"a", "b"}, Rows: [][]rdf.Term{{rdf.IRI("http://x/<&>"), {}}, {rdf.LangString("é]}}", "fr"),
			rdf.Typed("1", rdf.XSDInteger)}}},
	} {
		want, err := x.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := x.WriteJSON(&got); err != nil || got.String() != string(want) {
			t.Errorf("got %s, %v; want %s", got.String(), err, want)
		}
	}
}

package endpoint_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/endpoint"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// books is the number of books in the library, which then has more than 200,000 triples.
const books = 21_500

// libraryGraph returns a library of n books, the graph of its triples in memory, and the same graph as an endpoint,
// with a description obtained by querying it.
func libraryGraph(t *testing.T, n int) (*kgtest.Library, *embedded.Graph, *endpoint.Graph) {
	t.Helper()
	l := kgtest.NewLibrary(7, n)
	var nt bytes.Buffer
	if err := l.Write(&nt); err != nil {
		t.Fatal(err)
	}
	b := embedded.NewBuilder()
	if err := b.Read("library.nt", &nt); err != nil {
		t.Fatal(err)
	}
	e := b.Graph(embedded.Options{})
	query := served(t, e)
	p, err := registry.Ask(t.Context(), registry.Query(query))
	if err != nil {
		t.Fatal(err)
	}
	entry, err := registry.EntryOf("library", "http://127.0.0.1/sparql", p)
	if err != nil {
		t.Fatal(err)
	}
	g, err := endpoint.New(endpoint.Options{Graph: entry.Description, Query: query})
	if err != nil {
		t.Fatal(err)
	}
	return l, e, g
}

// TestQuestions checks that forty rewritten queries on 200,000 triples with a custom vocabulary return the same results
// over HTTP as from the in-memory graph.
func TestQuestions(t *testing.T) {
	l, e, g := libraryGraph(t, books)
	if n := e.Len(); n < 200_000 {
		t.Errorf("%d triples, want 200,000", n)
	}
	questions := kgtest.LibraryQuestions()
	if len(questions) != 40 {
		t.Errorf("%d questions, want 40", len(questions))
	}
	found := 0
	for _, q := range questions {
		want, err := e.Query(t.Context(), kgtest.LibraryPrefixes+q.Query)
		if err != nil {
			t.Fatalf("%s: %v\n%s", q.Name, err, q.Query)
		}
		got, err := g.Query(t.Context(), q.Query)
		if err != nil {
			t.Errorf("%s: %v\n%s", q.Name, err, q.Query)
			continue
		}
		if kgtest.RowTexts(got) != kgtest.RowTexts(want) {
			t.Errorf("%s: got %d rows, want %d\n%s", q.Name, len(got.Rows), len(want.Rows), q.Query)
		}
		if len(got.Rows) > 0 || got.Ask {
			found++
		}
	}
	if found < 38 {
		t.Errorf("only %d questions return rows", found)
	}
	// The expected values, for all books published by a house, come from the generator.
	count, days := 0, 0
	for _, b := range l.Books {
		if b.House == 3 {
			count++
			for _, d := range b.Loans {
				days += d
			}
		}
	}
	for name, want := range map[string]int{"number of books of a house 3": count, "days in all 3": days} {
		i := slices.IndexFunc(questions, func(q kgtest.Question) bool { return q.Name == name })
		got, err := g.Query(t.Context(), questions[i].Query)
		if err != nil || got.Rows[0][0].Value != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v; want %d", name, got, err, want)
		}
	}
}

func find(t *testing.T, g *endpoint.Graph, q kg.FindQuery) []string {
	t.Helper()
	res, err := g.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	var ids []string
	for _, h := range res.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestFindInALibrary(t *testing.T) {
	l, _, g := libraryGraph(t, 800)
	i := slices.IndexFunc(l.Books, func(b kgtest.Book) bool { return b.Name != "" && b.NameD != "" })
	b := l.Books[i]
	id := fmt.Sprint("thing:book", b.N)
	for name, q := range map[string]kg.FindQuery{
		"its name":          {Text: b.Name, Type: kg.Item},
		"its German name":   {Text: b.NameD, Language: "de", Type: kg.Item},
		"words of its name": {Text: fmt.Sprint(b.N, " ", strings.Fields(b.Name)[1]), Type: kg.Item},
		"in any case":       {Text: strings.ToUpper(b.Name), Type: kg.Item},
		"of all types":      {Text: b.Name},
		"among some": {Text: strings.Fields(b.Name)[1], Among: []rdf.Term{rdf.IRI(kgtest.LibraryThings + "author1"),
			rdf.IRI(kgtest.LibraryThings + id[6:]), rdf.Blank("x")}},
		"a literal among them": {Text: "river", Among: []rdf.Term{rdf.String("a river")}, Type: kg.Literal},
	} {
		q.Limit = 5
		want := id
		if q.Type == kg.Literal {
			want = `"a river"`
		}
		if got := find(t, g, q); len(got) == 0 || got[0] != want {
			t.Errorf("%s (%q): %q, want %s first", name, q.Text, got, want)
		}
	}
	if got := find(t, g, kg.FindQuery{Text: "written", Type: kg.Property, Limit: 5}); !slices.Equal(got,
		[]string{"v:writtenBy"}) {
		t.Errorf("a property by its label: %q", got)
	}
	if got := find(t, g, kg.FindQuery{Text: "born in", Type: kg.Property, Limit: 1}); !slices.Equal(got,
		[]string{"v:bornIn"}) {
		t.Errorf("a property without a label, by its name: %q", got)
	}
	none := slices.IndexFunc(l.Books, func(b kgtest.Book) bool { return b.Name == "" && b.NameD == "" && b.N > 100 })
	if got := find(t, g, kg.FindQuery{Text: fmt.Sprint("book", none), Type: kg.Item, Limit: 5}); !slices.Contains(got,
		fmt.Sprint("thing:book", none)) {
		t.Errorf("a thing without a label, by its IRI: %q", got)
	}
	if got := find(t, g, kg.FindQuery{Text: `"} DROP ALL #\`, Limit: 5}); len(got) != 0 {
		t.Errorf("hostile text: %q", got)
	}
	res, err := g.Search(t.Context(), kg.SearchQuery{Text: id, Type: kg.Item, Limit: 5})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != id || res.Hits[0].MatchType != "entityId" {
		t.Errorf("an ID: %+v, %v", res, err)
	}
}

func TestPagesOfALibrary(t *testing.T) {
	l, _, g := libraryGraph(t, 800)
	i := slices.IndexFunc(l.Books, func(b kgtest.Book) bool {
		return b.Name != "" && b.NameD != "" && len(b.Loans) == 2 && len(b.Authors) == 2
	})
	b := l.Books[i]
	page, err := g.Entity(t.Context(), fmt.Sprint("thing:book", b.N), "de")
	if err != nil {
		t.Fatal(err)
	}
	if page.Label != b.NameD || page.ID != fmt.Sprint("thing:book", b.N) || page.Type != kg.Item {
		t.Errorf("head: %+v", page)
	}
	got := map[string]kg.PropertyStatements{}
	for _, c := range page.Claims {
		got[c.Property.ID] = c
	}
	if len(got["v:writtenBy"].Statements) != 2 || got["v:writtenBy"].Property.Label != "written by" ||
		got["v:called"].Statements != nil {
		t.Errorf("authors: %+v", got["v:writtenBy"])
	}
	if st := got["v:pages"].Statements; len(st) != 1 || st[0].Value.Term != rdf.Typed(fmt.Sprint(b.Pages),
		rdf.XSDInteger) {
		t.Errorf("pages: %+v", st)
	}
	if st := got["v:publisher"].Statements; len(st) != 1 || st[0].Value.ID != fmt.Sprint("thing:house", b.House) {
		t.Errorf("publisher: %+v", st)
	}
	var days []string
	for _, st := range got["v:loan"].Statements {
		for _, q := range st.Qualifiers {
			if q.Property.ID == "v:days" {
				days = append(days, q.Values[0].Term.Value)
			}
		}
	}
	want := []string{fmt.Sprint(b.Loans[0]), fmt.Sprint(b.Loans[1])}
	if slices.Sort(days); !slices.Equal(days, slices.Sorted(slices.Values(want))) {
		t.Errorf("days of the loans, which are nodes without a name: %q, want %q", days, want)
	}
	for id, kind := range map[string]kg.Kind{"thing:book999999": kg.NotFound, "nope:x": kg.BadID, "": kg.BadID,
		"<x y>": kg.BadID, "Q42": kg.BadID, "<http://x/> } DROP ALL #": kg.BadID} {
		if e, err := g.Entity(t.Context(), id, "en"); kg.KindOf(err) != kind {
			t.Errorf("Entity(%q): %+v, %v; want %s", id, e, err, kind)
		}
	}
	// Even a class that occurs only as an object has a page. If there are many values, as for a publisher, they are
	// counted.
	if e, err := g.Entity(t.Context(), "v:Work", "en"); err != nil || len(e.Claims) != 0 {
		t.Errorf("a class that is only mentioned: %+v, %v", e, err)
	}
	ex, err := g.Examples(t.Context(), "v:publisher", "en")
	if err != nil || len(ex) != 5 || !strings.HasPrefix(ex[0].Subject.ID, "thing:book") ||
		!strings.HasPrefix(ex[0].Value.ID, "thing:house") {
		t.Errorf("examples: %+v, %v", ex, err)
	}
	if _, err := g.Examples(t.Context(), "v:nothing", "en"); kg.KindOf(err) != kg.NotFound {
		t.Errorf("examples of what is not used: %v", err)
	}
	labels, err := g.Labels(t.Context(), []string{page.ID, "v:Book", "<" + kgtest.LibraryVocabulary + "Town>",
		"thing:none", "nonsense", ""}, []string{"de", "en"})
	if err != nil || len(labels) != 3 || labels[page.ID] != b.NameD || labels["v:Book"] != "book" {
		t.Errorf("labels: %v, %v", labels, err)
	}
}

// TestManyValues checks that if there are many values, only some are shown, but all are counted.
func TestManyValues(t *testing.T) {
	var nt strings.Builder
	for i := range 700 {
		fmt.Fprintf(&nt, "<http://x.example/a> <http://x.example/p> <http://x.example/n%d> .\n", i)
	}
	nt.WriteString("<http://x.example/a> <http://x.example/q> \"once\" .\n")
	b := embedded.NewBuilder()
	if err := b.Read("x.nt", strings.NewReader(nt.String())); err != nil {
		t.Fatal(err)
	}
	g, err := endpoint.New(endpoint.Options{Graph: kg.Description{Name: "x"}, Query: b.Graph(embedded.Options{}).Query})
	if err != nil {
		t.Fatal(err)
	}
	e, err := g.Entity(t.Context(), "http://x.example/a", "en")
	if err != nil || len(e.Claims) != 2 || len(e.Claims[0].Statements) != 50 || e.Claims[0].Total != 700 ||
		e.Claims[1].Total != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestQueryIsGuarded checks which queries are rejected before they run, and the position in syntax errors.
func TestQueryIsGuarded(t *testing.T) {
	var asked []string
	g, err := endpoint.New(endpoint.Options{Graph: kg.Description{Name: "x", Dialect: "qlever",
		Prefixes: map[string]string{"c": "http://c.example/"}},
		Federate: []string{"https://known.example/sparql"},
		Query: func(_ context.Context, q string) (*kg.Table, error) {
			asked = append(asked, q)
			return nil, &kg.Error{Kind: kg.SyntaxError, Message: "mistake", Line: 9, Column: 9}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for q, kind := range map[string]kg.Kind{
		"INSERT DATA { c:a c:b c:c }": kg.Refused, "SELECT * { SERVICE <http://127.0.0.1/> { ?a ?b ?c } }": kg.Refused,
		"SELECT * { SERVICE ?x { ?a ?b ?c } }": kg.Refused,
		"SELECT * { ?a nope:b ?c }":            kg.SyntaxError, "SELECT * {": kg.SyntaxError,
		"SELECT ?x { ?x c:p ?y FILTER(REGEX(?y, \"(?=x)\")) }": kg.Refused,
	} {
		if _, err := g.Query(t.Context(), q); kg.KindOf(err) != kind {
			t.Errorf("%s: %v, want %s", q, err, kind)
		}
	}
	if len(asked) > 0 {
		t.Errorf("sent: %q", asked)
	}
	_, err = g.Query(t.Context(), "SELECT ?a { ?a c:b/wdt:P31 ?c SERVICE <https://known.example/sparql> { ?a ?b ?c } }")
	ke, ok := err.(*kg.Error)
	if !ok || ke.Line != 0 || len(asked) != 1 || !strings.Contains(asked[0], "PREFIX c: <http://c.example/>") ||
		!strings.Contains(asked[0], "PREFIX wdt:") {
		t.Errorf("%v; sent %q", err, asked)
	}
}

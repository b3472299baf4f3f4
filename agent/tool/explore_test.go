package tool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// scriptedGraph answers queries by calling a function, and records them.
type scriptedGraph struct {
	Graph
	answer  func(query string) (*kg.Table, error)
	queries []string
	labels  map[string]string
}

func (g *scriptedGraph) Query(_ context.Context, query string) (*kg.Table, error) {
	g.queries = append(g.queries, query)
	return g.answer(query)
}

func (g *scriptedGraph) Labels(_ context.Context, ids, _ []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range ids {
		if l, ok := g.labels[id]; ok {
			out[id] = l
		}
	}
	return out, nil
}

// scriptedFinder answers searches by calling a function, and records them.
type scriptedFinder struct {
	answer func(q kg.FindQuery) *kg.SearchResult
	asked  []kg.FindQuery
}

func (f *scriptedFinder) Find(_ context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	f.asked = append(f.asked, q)
	return f.answer(q), nil
}

type recorderFunc func(event.Event)

func (f recorderFunc) Record(_ context.Context, e event.Event) error {
	f(e)
	return nil
}

func fixedClock() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// terms parses "wd:Q1", "_:b", "-" (unbound) and literals.
func terms(names ...string) []rdf.Term {
	out := make([]rdf.Term, len(names))
	for i, n := range names {
		prefix, local, found := strings.Cut(n, ":")
		switch {
		case n == "-":
		case prefix == "_":
			out[i] = rdf.Blank(local)
		case found:
			out[i] = rdf.IRI(rdf.Prefixes[prefix] + local)
		default:
			out[i] = rdf.String(n)
		}
	}
	return out
}

func column(names ...string) *kg.Table {
	t := &kg.Table{Vars: []string{"search"}}
	for _, term := range terms(names...) {
		t.Rows = append(t.Rows, []rdf.Term{term})
	}
	return t
}

// TestAmong checks that the candidates are the query's distinct terms, except blank nodes, and that the search text is
// passed to the finder.
func TestAmong(t *testing.T) {
	g := &scriptedGraph{answer: func(string) (*kg.Table, error) {
		return column("wd:Q1", "_:b1", "-", "wdt:P31", "a text"),
			nil
	}}
	f := &scriptedFinder{answer: func(kg.FindQuery) *kg.SearchResult {
		return &kg.SearchResult{Hits: []kg.Hit{{ID: "Q1"}},
			More: true}
	}}
	s := Wikibase(g).Main()
	s.Finder = f
	got, err := explorer{s}.Among(t.Context(), event.AmongQuery{FindQuery: kg.FindQuery{Text: "x", Type: kg.Item,
		Limit: 3}, From: "SELECT DISTINCT ?search {}"})
	if err != nil || got.Candidates != 3 || len(got.Hits) != 1 || !got.More {
		t.Fatalf("%+v, %v", got, err)
	}
	want := kg.FindQuery{Text: "x", Type: kg.Item, Limit: 3, Among: terms("wd:Q1", "wdt:P31", "a text")}
	if d := cmp.Diff([]kg.FindQuery{want}, f.asked); d != "" {
		t.Error(d)
	}
	if g.queries[0] != "SELECT DISTINCT ?search {}\nLIMIT 65537" {
		t.Error(g.queries)
	}
}

// TestAmongLimit checks that 65,536 candidates are searched and that one more is too many (GRASP's fallback hangs if
// there are too many).
func TestAmongLimit(t *testing.T) {
	for n, want := range map[int]kg.Kind{65_536: "", 65_537: kg.TooLarge} {
		g := &scriptedGraph{answer: func(string) (*kg.Table, error) {
			table := &kg.Table{Vars: []string{"search"}}
			for i := range n {
				table.Rows = append(table.Rows, []rdf.Term{rdf.IRI(fmt.Sprintf("http://x/%d", i))})
			}
			return table, nil
		}}
		f := &scriptedFinder{answer: func(q kg.FindQuery) *kg.SearchResult { return &kg.SearchResult{} }}
		s := Wikibase(g).Main()
		s.Finder = f
		_, err := explorer{s}.Among(t.Context(), event.AmongQuery{From: "SELECT ?x {}"})
		if kg.KindOf(err) != want || (want == "") != (len(f.asked) == 1) {
			t.Errorf("%d candidates: %v, %d searches", n, err, len(f.asked))
		}
		if want == "" && len(f.asked[0].Among) != n {
			t.Errorf("%d candidates were searched", len(f.asked[0].Among))
		}
	}
}

// TestAmongNothing checks that there is no search if there are no candidates, and that the graph's errors are returned.
func TestAmongNothing(t *testing.T) {
	f := &scriptedFinder{}
	g := &scriptedGraph{answer: func(string) (*kg.Table, error) { return column("_:b"), nil }}
	s := Wikibase(g).Main()
	s.Finder = f
	if got, err := (explorer{s}).Among(t.Context(), event.AmongQuery{}); err != nil || got.Candidates != 0 ||
		len(f.asked) != 0 {
		t.Errorf("%+v, %v, %v", got, err, f.asked)
	}
	g.answer = func(string) (*kg.Table, error) { return nil, kg.Errorf(kg.Timeout, "too slow") }
	if _, err := (explorer{s}).Among(t.Context(), event.AmongQuery{}); kg.KindOf(err) != kg.Timeout {
		t.Error(err)
	}
	g.answer = func(string) (*kg.Table, error) { return &kg.Table{Ask: true}, nil }
	if _, err := (explorer{s}).Among(t.Context(), event.AmongQuery{}); kg.KindOf(err) != kg.Down {
		t.Error(err)
	}
}

// TestAmongByLabel checks that a graph without an index ranks a few candidates by their labels, and refuses to rank
// many.
func TestAmongByLabel(t *testing.T) {
	all := column("wd:Q1", "wdt:P569", "p:P569", "wdt:P570", "date of issue", "wd:Q2")
	g := &scriptedGraph{answer: func(string) (*kg.Table, error) { return all, nil },
		labels: map[string]string{"P569": "date of birth", "P570": "date of death", "Q1": "Birthe"}}
	s := Wikibase(g).Main()
	ids := func(q kg.FindQuery) string {
		got, err := explorer{s}.Among(t.Context(), event.AmongQuery{FindQuery: q})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, h := range got.Hits {
			out = append(out, h.ID+" "+strings.Join(h.Variants, "/"))
		}
		return strings.Join(out, ", ")
	}
	for _, tt := range []struct {
		q    kg.FindQuery
		want string
	}{
		{kg.FindQuery{Text: "birth date", Type: kg.Property, Limit: 5}, "P569 wdt/p, P570 wdt"},
		{kg.FindQuery{Text: "birth", Limit: 5}, "P569 wdt/p, Q1 "},
		{kg.FindQuery{Text: "Birth", Limit: 1, Offset: 1}, "Q1 "},
		{kg.FindQuery{Text: "issue", Type: kg.Literal, Limit: 5}, `"date of issue" `},
		{kg.FindQuery{Text: "nothing", Limit: 5}, ""},
	} {
		if got := ids(tt.q); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.q, got, tt.want)
		}
	}
	for i := range maxLabelled {
		all.Rows = append(all.Rows, []rdf.Term{rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+10))})
	}
	if _, err := (explorer{s}).Among(t.Context(), event.AmongQuery{}); kg.KindOf(err) != kg.Refused {
		t.Errorf("with many candidates: %v", err)
	}
}

// TestTriples checks the order in which triples are listed. The most used property comes first, and for each property,
// the most used entity. Rows that repeat a property come after all others, and among them, rows that also repeat an
// entity come last (as in GRASP's list_triples).
func TestTriples(t *testing.T) {
	rows := [][2]string{{"rdfs:label", "a name"}, {"p:P31", "wds:s1"}, {"wdt:P31", "wd:Q5"}, {"wdt:P19", "wd:Q60"},
		{"wdt:P31", "wd:Q515"}, {"wdt:P20", "wd:Q60"}}
	g := &scriptedGraph{answer: func(string) (*kg.Table, error) {
		table := &kg.Table{Vars: []string{"property", "object"}}
		for _, r := range rows {
			table.Rows = append(table.Rows, terms(r[0], r[1]))
		}
		return table, nil
	}}
	order := map[kg.Type][]string{kg.Property: {"wd:P31", "wd:P20", "wd:P19"}, kg.Item: {"wd:Q515", "wd:Q5", "wd:Q60"}}
	f := &scriptedFinder{answer: func(q kg.FindQuery) *kg.SearchResult {
		res := &kg.SearchResult{}
		for _, term := range terms(order[q.Type]...) {
			res.Hits = append(res.Hits, kg.Hit{Term: &term})
		}
		return res
	}}
	s := Wikibase(g).Main()
	s.Finder = f
	list := func(q event.TriplesQuery) (out []string, got *event.Triples) {
		got, err := explorer{s}.Triples(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Rows {
			out = append(out, strings.Trim(rdf.Shorten(r[1].Value)+" "+rdf.Shorten(r[2].Value), "<>"))
		}
		return out, got
	}
	subject := terms("wd:Q42")[0]
	got, all := list(event.TriplesQuery{Subject: subject, Limit: 10})
	// The row with wdt:P19 has a new property, but no new entity, so it comes after the rows that have both.
	want := []string{"wdt:P31 wd:Q515", "wdt:P20 wd:Q60", "rdfs:label <a name", "wdt:P19 wd:Q60", "wdt:P31 wd:Q5",
		"p:P31 wds:s1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if all.Total != 6 || all.More || all.Rows[0][0] != subject {
		t.Errorf("%+v", all)
	}
	if g.queries[0] != "SELECT * WHERE { <http://www.wikidata.org/entity/Q42> ?property ?object }\nLIMIT 65537" {
		t.Error(g.queries[0])
	}
	if got, _ := list(event.TriplesQuery{Subject: subject, Limit: 2, Offset: 4}); !cmp.Equal(got, want[4:]) {
		t.Errorf("second page: %q", got)
	}
	s.Finder = nil
	if got, _ := list(event.TriplesQuery{Subject: subject, Limit: 2}); !cmp.Equal(got, []string{"rdfs:label <a name",
		"wdt:P31 wd:Q5"}) {
		t.Errorf("without a finder, want the graph's order with statements at the end, got %q", got)
	}
}

// TestTriplesLimit checks that only the first 65,536 triples are examined, and that the result reports whether there
// are more.
func TestTriplesLimit(t *testing.T) {
	g := &scriptedGraph{answer: func(string) (*kg.Table, error) {
		table := &kg.Table{Vars: []string{"subject"}}
		for range 65_537 {
			table.Rows = append(table.Rows, terms("wd:Q1"))
		}
		return table, nil
	}}
	got, err := explorer{Wikibase(g).Main()}.Triples(t.Context(), event.TriplesQuery{Property: terms("wdt:P31")[0],
		Object: terms("wd:Q5")[0], Limit: 10})
	if err != nil || got.Total != 65_536 || !got.More || len(got.Rows) != 10 {
		t.Errorf("%d rows of %d, more %v, %v", len(got.Rows), got.Total, got.More, err)
	}
	if got.Rows[0] != [3]rdf.Term(terms("wd:Q1", "wdt:P31", "wd:Q5")) {
		t.Errorf("%v", got.Rows[0])
	}
}

// TestExplorerReplays checks that a trajectory records a search among candidates and a list as one call each, and that
// both can be replayed.
func TestExplorerReplays(t *testing.T) {
	g := &scriptedGraph{answer: func(q string) (*kg.Table, error) { return column("wd:Q1", "wd:Q2"), nil },
		labels: map[string]string{"Q1": "one"}}
	var events []event.Event
	rec := recorderFunc(func(e event.Event) { events = append(events, e) })
	log := event.NewLog(rec, fixedClock, 0)
	b := log.Branch(0)
	if err := b.Record(t.Context(), event.Event{Event: "start", Question: &event.Question{Text: "q"}}); err != nil {
		t.Fatal(err)
	}
	s := Wikibase(g).Recorded(b).Main()
	among := event.AmongQuery{FindQuery: kg.FindQuery{Text: "one", Limit: 10}, From: "SELECT ?x {}"}
	triples := event.TriplesQuery{Property: terms("wdt:P31")[0], Object: terms("wd:Q5")[0], Limit: 1}
	first, err1 := s.Explore.Among(t.Context(), among)
	list, err2 := s.Explore.Triples(t.Context(), triples)
	if err1 != nil || err2 != nil || len(first.Hits) != 1 || len(events) != 3 {
		t.Fatalf("%v, %v, %+v, %d events", err1, err2, first, len(events))
	}
	replay, err := event.NewReplay(events)
	if err != nil {
		t.Fatal(err)
	}
	again := Wikibase(replay).Main()
	first2, err1 := again.Explore.Among(t.Context(), among)
	list2, err2 := again.Explore.Triples(t.Context(), triples)
	if d := cmp.Diff(first, first2) + cmp.Diff(list, list2); d != "" || err1 != nil || err2 != nil {
		t.Errorf("%v, %v: %s", err1, err2, d)
	}
}

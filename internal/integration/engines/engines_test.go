//go:build integration

package engines

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// bench consists of the embedded graph and the other engines, all with the same files loaded.
type bench struct {
	t       *testing.T
	graph   *embedded.Graph
	engines []*engine
	count   map[string]int
}

func newBench(t *testing.T, files ...string) *bench {
	t.Helper()
	for i, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = abs
	}
	g, err := embedded.Load(embedded.Options{Timeout: 5 * time.Second}, files...)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, graph: g, count: map[string]int{}}
	for _, name := range []string{"virtuoso", "oxigraph", "blazegraph"} {
		b.engines = append(b.engines, startEngine(t, name, files))
	}
	t.Cleanup(func() {
		for _, k := range slices.Sorted(maps.Keys(b.count)) {
			t.Log(b.count[k], k)
		}
	})
	return b
}

// builtIn returns the files of the built-in slice.
func builtIn(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../sandbox/data/*.ttl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no data: %v", err)
	}
	return files
}

func (b *bench) embedded(text string) (*kg.Table, error) {
	return b.graph.Query(context.Background(), sparql.ReplaceAutoLanguage(text, "en"))
}

// portable reports whether every engine must return the same rows for a query: it does not use the clock, randomness, a
// limit without an order, or an external service.
func portable(text string, q *sparql.Query) bool {
	if q.Form != sparql.Select && q.Form != sparql.Ask {
		return false
	}
	for _, s := range []string{"NOW(", "RAND(", "UUID(", "BNODE(", "MWAPI", "BD:SAMPLE", "BD:SLICE", "GAS:SERVICE"} {
		if strings.Contains(strings.ReplaceAll(strings.ToUpper(text), " (", "("), s) {
			return false
		}
	}
	ok := true
	sparql.Inspect(q, func(n sparql.Node) bool {
		if s, is := n.(*sparql.SelectQuery); is && (s.Limit != nil && s.Limit.N > 0 || s.Offset != nil) &&
			(s.OrderBy == nil || s != q.Body) {
			ok = false
		}
		return ok
	})
	return ok
}

// compare runs a query on every engine. The name identifies the query in messages.
func (b *bench) compare(name, text string) {
	b.t.Helper()
	q, err := sparql.Parse(text)
	if err != nil {
		b.count["not parsed"]++
		return
	}
	if !portable(text, q) {
		b.count["not portable"]++
		return
	}
	tab, err := b.embedded(text)
	if err != nil {
		kind := kg.KindOf(err)
		b.count["not run by the embedded graph: "+string(kind)]++
		if kind == kg.QueryFailed || kind == "" {
			b.t.Errorf("%s: the embedded graph: %v\n%s", name, err, text)
		}
		return
	}
	if len(tab.Rows) > 20000 {
		b.count["too many rows"]++
		return
	}
	b.count["compared"]++
	if len(tab.Rows) > 0 || tab.Boolean {
		b.count["compared, with rows"]++
	}
	l := laxityOf(q)
	want, loose := resultOf(tab, l), resultOf(truthAsNumbers(tab), l)
	b.same("printed", name, q.String(), want, l, b.embedded)
	if !strings.Contains(strings.ToLower(text), "wikibase:") || !service(q) {
		for _, e := range b.engines[2:] {
			b.same(e.name, name, text, want, l, e.ask)
		}
	}
	r, err := rewrite.Query(text, rewrite.Standard, rewrite.Options{Language: "en"})
	if err != nil {
		b.count["no standard form"]++
		return
	}
	b.same("standard", name, r.Text, want, l, b.embedded)
	b.same("oxigraph", name, r.Text, want, l, b.engines[1].ask)
	b.same("virtuoso", name, r.Text, loose, l, b.engines[0].ask)
}

// service reports whether a query uses SERVICE. Blazegraph supports Wikidata's services only with Wikidata's extensions
// installed.
func service(q *sparql.Query) bool {
	found := false
	sparql.Inspect(q, func(n sparql.Node) bool {
		_, is := n.(*sparql.Service)
		found = found || is
		return !found
	})
	return found
}

// same runs one form of a query on one engine and compares the rows.
func (b *bench) same(place, name, text string, want *result, l laxity, run func(string) (*kg.Table, error)) {
	b.t.Helper()
	tab, err := run(text)
	switch {
	case errors.Is(err, errSlow), kg.KindOf(err) == kg.Timeout, kg.KindOf(err) == kg.TooGreedy:
		b.count[place+": out of time"]++
		return
	case err != nil:
		if why := known(place, name, text, err); why != "" {
			b.count[place+": refused: "+why]++
			return
		}
		b.count[place+": refused"]++
		b.t.Errorf("%s: %s: %v\n%s", name, place, err, text)
		return
	}
	if place == "virtuoso" {
		tab = truthAsNumbers(tab)
	}
	got := resultOf(tab, l)
	d := difference(want, got, l)
	if d == "" {
		b.count[place+": same"]++
		if unexpected := trapFault(place, name); unexpected {
			b.t.Errorf("%s: %s no longer differs: remove it from testdata/faults.tsv and docs/engines.md", name, place)
		}
		return
	}
	if len(got.rows) > len(want.rows) && strings.Contains(text, "Label_") && slices.Equal(want.withoutLabels(),
		got.withoutLabels()) {
		b.count[place+": an item with two labels in one language"]++ // the label service returns only one of the labels
		return
	}
	if why := known(place, name, text, nil); why != "" {
		b.count[place+": differs: "+why]++
		return
	}
	b.count[place+": differs"]++
	b.t.Errorf("%s: %s: %s\n%s", name, place, d, text)
}

// queries is the number of generated queries that a run compares.
const queries = 400

func TestBuiltIn(t *testing.T) {
	b := newBench(t, builtIn(t)...)
	traps(t, b)
	all, err := b.graph.Query(context.Background(), "SELECT ?s ?p ?o { ?s ?p ?o }")
	if err != nil {
		t.Fatal(err)
	}
	v := newVocabulary(all)
	for seed := range uint64(queries) {
		b.compare(fmt.Sprintf("seed %d", seed), generate(v, seed))
	}
}

// traps runs the queries in testdata/traps.rq.
func traps(t *testing.T, b *bench) {
	t.Helper()
	data, err := os.ReadFile("testdata/traps.rq")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(data), "\n### ")[1:] {
		name, query, _ := strings.Cut(part, "\n")
		b.compare(name, strings.TrimSpace(query))
	}
}

// shared returns the path of a reference data file, which is not part of the repository.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no reference data: %v", err)
	}
	return path
}

func TestReferenceData(t *testing.T) {
	slice := shared(t, "data", "slice", "wikidata-slice.nt.gz")
	b := newBench(t, slice)
	readLines(t, shared(t, "data", "slice", "questions-dev.jsonl"), func(n int, x map[string]any) {
		b.compare(fmt.Sprint("gold ", x["id"]), x["sparql"].(string))
	})
	readLines(t, shared(t, "data", "forum", "raq_queries.jsonl"), func(n int, x map[string]any) {
		text := x["query"].(string)
		tab, err := b.embedded(text)
		if err != nil || tab.Empty() || tab.Ask && !tab.Boolean {
			return // the query does not use data in the slice
		}
		b.compare(fmt.Sprint("forum ", n), text)
	})
}

func readLines(t *testing.T, path string, f func(n int, x map[string]any)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		x := map[string]any{}
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		f(n, x)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

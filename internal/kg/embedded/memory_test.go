package embedded

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// TestSizes checks the sizes that memory accounting uses.
func TestSizes(t *testing.T) {
	for name, c := range map[string][2]uintptr{
		"value":       {valueSize, unsafe.Sizeof(value.Value{})},
		"accumulator": {accumulatorSize, unsafe.Sizeof(accumulator{})}, "rdf.Term": {termBytes, unsafe.Sizeof(rdf.Term{})},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: counted as %d bytes, has %d", name, c[0], c[1])
		}
	}
}

// countingSink counts rows without storing them.
type countingSink struct{ rows int }

func (c *countingSink) Head([]string, bool) error { return nil }
func (c *countingSink) Boolean(bool) error        { return nil }
func (c *countingSink) Row([]rdf.Term) error {
	c.rows++
	return nil
}

func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// peakHeap runs f and returns the peak heap growth during the run, including garbage.
func peakHeap(f func()) int64 {
	base, peak := heap(), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Microsecond)
		defer tick.Stop()
		for {
			peak = max(peak, heap())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(stop)
	<-done
	return peak - base
}

// replaceChain makes a string 29 times longer at each step.
func replaceChain(steps int) string {
	var b strings.Builder
	b.WriteString(`BIND("aaaaaaaaaa" AS ?x0) `)
	for i := range steps {
		fmt.Fprintf(&b, `BIND(REPLACE(?x%d, "a", "%s") AS ?x%d) `, i, strings.Repeat("a", 29), i+1)
	}
	return b.String()
}

// hungryQueries returns queries that use as much memory as they can, each in a different way.
func hungryQueries() map[string]string {
	const all = "{ ?a ?b ?c . ?d ?e ?f }"
	times := func(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+", ", n), ", ") }
	small, big := replaceChain(2), replaceChain(3) // 8,410 and 243,890 bytes
	return map[string]string{
		"chain of REPLACE": "SELECT (CONCAT(?x9, ?x9) AS ?y) { " + replaceChain(9) + " }",
		"REPLACE of groups": "SELECT ?y { " + big +
			` BIND(REPLACE(?x3, "(a+)", "$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1") AS ?y) }`,
		"many arguments": "SELECT (STRLEN(CONCAT(" +
			times(400, "STRBEFORE(UCASE(?x3), \"AB\"), SUBSTR(LCASE(?x3), 2, 0)") + ")) AS ?y) { " + big + "}",
		"ENCODE_FOR_URI": "SELECT ?y { " + big + ` BIND(CONCAT(` + times(8, `REPLACE(?x3, "a", "ä")`) +
			`) AS ?z) BIND(ENCODE_FOR_URI(?z) AS ?y) }`,
		"ORDER BY":      "SELECT * " + all + " ORDER BY ?a ?f",
		"ORDER BY text": "SELECT ?a " + all + " ORDER BY CONCAT(STR(?a), STR(?c), STR(?f))",
		"ORDER BY piece": "SELECT ?a { " + small +
			` ?a ?b ?c } ORDER BY SUBSTR(CONCAT(?x2, ?x2, ?x2, ?x2, ?x2, STR(?c)), 1, 3)`,
		"DISTINCT": "SELECT DISTINCT * " + all,
		"GROUP BY": "SELECT ?a ?c ?d (COUNT(DISTINCT ?e) AS ?n) (MAX(CONCAT(STR(?a), STR(?f))) AS ?m) " + all +
			" GROUP BY ?a ?c ?d",
		"GROUP_CONCAT": "SELECT ?a (GROUP_CONCAT(?c; separator=\"" + strings.Repeat("-", 2000) +
			"\") AS ?t) { ?a ?b ?c } GROUP BY ?a",
		"local terms": "SELECT ?s " + all[:len(all)-1] + " BIND(CONCAT(STR(?a), STR(?c), STR(?d), STR(?f)) AS ?s) }",
		"pieces of texts": "SELECT ?s { " + small +
			" ?a wdt:P2 ?n . ?c wdt:P2 ?m BIND(SUBSTR(CONCAT(STR(?n), \"-\", STR(?m), ?x2, ?x2, ?x2, ?x2, ?x2), 1, 8) AS ?s) }",
		"CONSTRUCT of blank": "CONSTRUCT { ?a ?b _:x } " + all,
		"patterns":           "SELECT ?a { ?a wdt:P2 ?n . ?c wdt:P2 ?m FILTER(REGEX(\"a\", CONCAT(\"(a|b){900}\", STR(?n), STR(?m)))) }",
	}
}

// TestPeakMemory checks that the heap stays close to MaxMemory whatever a query does. It allows 50% more for the
// allocator and garbage, and a few megabytes for the runtime and for a string that is being copied. A sample has every
// other query.
func TestPeakMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's own memory distorts the measurement; run go test without -race")
	}
	const limit = 16 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // measure the live memory of queries, not the collector's timing
	g := denseGraph(t, 40, Options{Timeout: 10 * time.Second, MaxMemory: limit})
	queries := hungryQueries()
	for i, name := range slices.Sorted(maps.Keys(queries)) {
		if i%corpus.Pick(2, 1) != 0 {
			continue
		}
		q := queries[name]
		t.Run(name, func(t *testing.T) {
			sink := &countingSink{}
			var err error
			peak := peakHeap(func() { err = g.Stream(context.Background(), q, sink) })
			// on a slow machine, the query may reach its time limit first
			if kind := kg.KindOf(err); err != nil && kind != kg.TooGreedy && kind != kg.Timeout {
				t.Errorf("after %d rows: %v", sink.rows, err)
			}
			if peak > limit*3/2+8<<20 {
				t.Errorf("the heap grew by %d MB with a limit of %d MB (%d rows, %v)", peak>>20, limit>>20, sink.rows, err)
			}
			t.Logf("%.1f MB, %d rows, %v", float64(peak)/(1<<20), sink.rows, err)
		})
	}
}

// TestTotalMemory checks that concurrent greedy queries share one limit, that small queries can still run meanwhile,
// and that all memory is returned.
func TestTotalMemory(t *testing.T) {
	g := denseGraph(t, 45, Options{MaxMemory: 16 << 20, MaxTotalMemory: 20 << 20})
	hold := make(chan struct{})
	var holding, wg sync.WaitGroup
	holding.Add(1)
	// The first query sorts about 9 MB and then blocks at its first row.
	wg.Go(func() {
		first := true
		err := g.Stream(context.Background(), "SELECT ?a ?d { ?a wdt:P1 ?b . ?d wdt:P2 ?c } ORDER BY ?a",
			rowFunc(func() error {
				if first {
					first = false
					holding.Done()
					<-hold
				}
				return nil
			}))
		if err != nil {
			t.Error(err)
			if first {
				holding.Done()
			}
		}
	})
	holding.Wait()
	_, err := g.Query(context.Background(), "SELECT DISTINCT ?a ?c ?d ?f { ?a wdt:P1 ?c . ?d wdt:P1 ?f }")
	if kg.KindOf(err) != kg.TooGreedy || !strings.Contains(err.Error(), "used by other queries") {
		t.Errorf("during a greedy query (%d bytes in use): %v", g.pool.Used.Load(), err)
	}
	if tab, err := g.Query(context.Background(), "SELECT ?a ?n { ?a wdt:P2 ?n } ORDER BY ?n"); err != nil ||
		len(tab.Rows) != 45 {
		t.Errorf("a small query during a greedy one: %v", err)
	}
	close(hold)
	wg.Wait()
	if used := g.pool.Used.Load(); used != 0 {
		t.Errorf("%d bytes were not released", used)
	}
}

// rowFunc is a sink that is called for each row.
type rowFunc func() error

func (rowFunc) Head([]string, bool) error  { return nil }
func (rowFunc) Boolean(bool) error         { return nil }
func (f rowFunc) Row(row []rdf.Term) error { return f() }

// TestLongQueryText checks that a query's own text counts toward its memory limit.
func TestLongQueryText(t *testing.T) {
	g := denseGraph(t, 5, Options{MaxMemory: 4 << 20})
	_, err := g.Query(context.Background(), "SELECT * { VALUES ?x { "+strings.Repeat("1 ", 100_000)+"} }")
	if kg.KindOf(err) != kg.TooGreedy {
		t.Errorf("got %v", err)
	}
}

// TestMemoryGivenBack checks that a query that sorts, groups or tests again for every row needs only as much memory as
// for a single row.
func TestMemoryGivenBack(t *testing.T) {
	g := denseGraph(t, 20, Options{MaxMemory: 2 << 20})
	for _, q := range []string{
		"SELECT (COUNT(*) AS ?n) { ?a wdt:P1 ?b FILTER EXISTS { SELECT ?a ?d { ?a wdt:P1 ?d . ?d wdt:P1 ?c } ORDER BY CONCAT(STR(?c), STR(?d)) } }",
		"SELECT (COUNT(*) AS ?n) { ?a wdt:P1 ?b FILTER EXISTS { SELECT ?a (COUNT(DISTINCT ?d) AS ?n) (MAX(STR(?d)) AS ?m) { ?a wdt:P1 ?d } GROUP BY ?a } }",
		"SELECT (COUNT(*) AS ?n) { ?a wdt:P1 ?b . ?a wdt:P3 ?t FILTER(STRLEN(CONCAT(?t, ?t, ?t, UCASE(?t), REPLACE(?t, \"a\", \"xyz\"))) > 9) }",
	} {
		tab, err := g.Query(context.Background(), q)
		if err != nil || tab.Rows[0][0].Value != "400" {
			t.Errorf("%s: %v %v", q, tab, err)
		}
	}
}

// TestReplaceSizes checks that the size of a replacement is computed in advance: a string that fits is created,
// whatever the pattern, and one that does not fit is rejected.
func TestReplaceSizes(t *testing.T) {
	g := denseGraph(t, 2, Options{MaxMemory: 8 << 20}) // so a string may have up to 1 MB
	for _, c := range []struct {
		expr string
		want string // "" if rejected
	}{
		{`STRLEN(REPLACE(?x3, "a", "b"))`, "243890"},
		{`STRLEN(REPLACE(?x3, "(.)", "$1"))`, "243890"},
		{`STRLEN(REPLACE(?x3, "(a)a", "$1\\$\\\\"))`, "365835"},
		{`STRLEN(REPLACE(?x3, "^a", "` + strings.Repeat("z", 1000) + `"))`, "244889"},
		{`STRLEN(REPLACE(?x3, "a", "bcde"))`, "975560"},
		{`STRLEN(REPLACE(?x3, "a", "bcdef"))`, ""},
		{`STRLEN(REPLACE(?x3, "(a+)", "$1$1$1$1"))`, "975560"},
		{`STRLEN(REPLACE(?x3, "(a+)", "$1$1$1$1$1"))`, ""},
	} {
		tab, err := g.Query(context.Background(), "SELECT ("+c.expr+" AS ?n) { "+replaceChain(3)+"}")
		switch {
		case c.want == "" && kg.KindOf(err) != kg.TooGreedy:
			t.Errorf("%.60s: %v, want the error of a limit", c.expr, err)
		case c.want != "" && (err != nil || tab.Rows[0][0].Value != c.want):
			t.Errorf("%.60s: %v %v, want %s", c.expr, tab, err, c.want)
		}
	}
}

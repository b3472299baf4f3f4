package embedded

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// repeat joins n strings returned by f.
func repeat(n int, separator string, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(f(i))
	}
	return b.String()
}

// hugePlans returns queries of at most 1 MB whose plans are large.
func hugePlans() map[string]string {
	same := func(s string) func(int) string { return func(int) string { return s } }
	numbered := func(format string) func(int) string {
		return func(i int) string { return strings.ReplaceAll(format, "#", fmt.Sprint(i)) }
	}
	where := func(s string) string { return "SELECT (COUNT(*) AS ?n) { " + s + " }" }
	return map[string]string{
		"alternatives in sequence": where("?x " + repeat(100_000, "/", same("(a|a)")) + " ?y"),
		"alternatives":             where("?x " + repeat(450_000, "|", same("a")) + " ?y"),
		"negated set":              where("?x !(" + repeat(200_000, "|", same("a")) + ") ?y"),
		"negated sets in sequence": where("?x " + repeat(200_000, "/", same("!a")) + " ?y"),
		"sequence":                 where("?x " + repeat(450_000, "/", same("a")) + " ?y"),
		"sequence repeated":        where("?x (" + repeat(450_000, "/", same("a")) + ")+ ?y"),
		"repetitions":              where("?x " + repeat(300_000, "/", same("a*")) + " ?y"),
		"triples":                  where(repeat(40_000, " . ", numbered("?a# ?b# ?c#"))),
		"chain of triples": where(repeat(50_000, " . ", func(i int) string {
			return fmt.Sprintf("?a%d a ?a%d", i, i+1)
		})),
		"columns": where("VALUES (" + repeat(60_000, " ", numbered("?a#")) + ") { (" + repeat(60_000, " ",
			same("1")) + ") }"),
		"columns without rows": where("VALUES (" + repeat(100_000, " ", numbered("?a#")) + ") { }"),
		"many VALUES":          where(repeat(30_000, " ", numbered("VALUES ?a# { 1 }"))),
		"optionals":            where(repeat(30_000, " ", numbered("OPTIONAL { ?a# a ?b# }"))),
		"optionals of one":     where("?x a ?y " + repeat(30_000, " ", numbered("OPTIONAL { ?x a ?b# }"))),
		"minuses":              where("?x a ?y " + repeat(40_000, " ", numbered("MINUS { ?x a ?b# }"))),
		"unions":               where(repeat(40_000, " UNION ", numbered("{ ?a# a 1 }"))),
		"unions in sequence":   where(repeat(25_000, " ", numbered("{ ?a# a 1 } UNION { ?b# a 2 }"))),
		"unions of unions": where(strings.Repeat("{ { ?a a 1 } UNION ", 200) + "{ ?a a 1 }" + strings.Repeat(" }",
			200)),
		"IN":                     where("?x a ?y FILTER(?x IN (" + repeat(300_000, ",", same("?y")) + "))"),
		"filters":                where("?x a ?y " + repeat(40_000, " ", numbered("FILTER(?x != #)"))),
		"filters of equality":    where("?x a ?y . ?z a ?w " + repeat(40_000, " ", same("FILTER(?x = ?z)"))),
		"binds":                  where(repeat(40_000, " ", numbered("BIND(1 AS ?a#)"))),
		"sub-selects":            where(repeat(20_000, " ", numbered("{ SELECT ?a# { ?a# a ?b# } }"))),
		"sub-selects with LIMIT": where(repeat(15_000, " ", numbered("{ SELECT ?a# { ?a# a ?b# } LIMIT 1 }"))),
		"EXISTS": where("?x a ?y " + repeat(15_000, " ",
			numbered("FILTER EXISTS { ?x a ?b# . ?b# a ?c# }"))),
		"projected":  "SELECT " + repeat(60_000, " ", numbered("(1 AS ?a#)")) + " { ?x a ?y }",
		"selected":   "SELECT " + repeat(100_000, " ", numbered("?a#")) + " { ?x a ?y }",
		"aggregates": "SELECT " + repeat(30_000, " ", numbered("(COUNT(?x) AS ?a#)")) + " { ?x a ?y }",
		"group keys": "SELECT (COUNT(*) AS ?n) { ?x a ?y } GROUP BY " + repeat(90_000, " ", numbered("?a#")),
		"group expressions": "SELECT (COUNT(*) AS ?n) { ?x a ?y } GROUP BY " + repeat(50_000, " ",
			numbered("(1 AS ?a#)")),
		"order keys":          "SELECT * { ?x a ?y } ORDER BY " + repeat(200_000, " ", same("?x")),
		"order keys distinct": "SELECT * { ?x a ?y } ORDER BY " + repeat(90_000, " ", numbered("?a#")),
		"star":                "SELECT * { " + repeat(60_000, " ", numbered("?a# a 1 .")) + "}",
		"having": "SELECT (COUNT(*) AS ?n) { ?x a ?y } GROUP BY ?x HAVING " + repeat(50_000, " ",
			same("(COUNT(*) > 1)")),
		"having of projected": "SELECT " + repeat(20_000, " ", numbered("(1 AS ?a#)")) + " { ?x a ?y } HAVING " +
			repeat(20_000, " ", numbered("(?a# > 1)")),
		"construct": "CONSTRUCT { " + repeat(50_000, " ", numbered("?a# a _:b#.")) + "} { ?x a ?y }",
		"named subqueries": "SELECT * " + repeat(10_000, " ", numbered("WITH { SELECT ?a# { ?a# a ?b# } } AS %q#")) +
			" { " + repeat(10_000, " ", numbered("INCLUDE %q#")) + " }",
		"includes": "SELECT * WITH { SELECT ?a { ?a a ?b } } AS %q { " + strings.Repeat("INCLUDE %q ",
			80_000) + " }",
		"label service": where(repeat(30_000, " ", numbered("?a# a 1 .")) +
			repeat(30, " ", same(`SERVICE wikibase:label { bd:serviceParam wikibase:language "en" }`))),
	}
}

// TestPlanningLimits checks that parsing and planning obey the time and memory limits, and report the same errors as
// execution when they reach one. A sample has every third plan.
func TestPlanningLimits(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's own memory distorts the measurement; run go test without -race")
	}
	limit := 50 * time.Millisecond // PLANNING_LIMIT overrides this; a longer limit allows larger plans
	if s := os.Getenv("PLANNING_LIMIT"); s != "" {
		var err error
		if limit, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	g := denseGraph(t, 5, Options{Timeout: limit})
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // measure the live memory of queries, not the collector's timing
	plans := hugePlans()
	for i, name := range slices.Sorted(maps.Keys(plans)) {
		if i%corpus.Pick(3, 1) != 0 {
			continue
		}
		q := plans[name]
		t.Run(name, func(t *testing.T) {
			if len(q) > 1<<20 {
				t.Fatalf("the query has %d bytes", len(q))
			}
			var err error
			start := time.Now()
			peak := peakHeap(func() { _, err = g.Query(context.Background(), q) })
			took := time.Since(start)
			if kind := kg.KindOf(err); err != nil && kind != kg.Timeout && kind != kg.TooGreedy && kind != kg.TooLarge &&
				kind != kg.SyntaxError {
				t.Errorf("got %v, want an answer or the error of a limit", err)
			}
			if took > limit+10*time.Second {
				t.Errorf("took %v: %.200v", took, err)
			}
			if peak > DefaultMaxMemory*3/2 {
				t.Errorf("the heap grew by %d MB", peak>>20)
			}
			t.Logf("%d kB: %v, %d MB, %.200v", len(q)>>10, took.Round(time.Millisecond), peak>>20, err)
		})
		if used := g.pool.Used.Load(); used != 0 {
			t.Fatalf("%s: %d bytes were not released", name, used)
		}
	}
}

// lookedAt is a context that counts how often its error is checked.
type lookedAt struct {
	context.Context
	times int
}

func (c *lookedAt) Err() error {
	c.times++
	return c.Context.Err()
}

// A query with thousands of expressions per solution must check its time limit while evaluating them, not only between
// solutions, since a thousand solutions may take a second.
func TestTimeLimitOfLongSolutions(t *testing.T) {
	numbered := func(format string) string {
		return repeat(2000, " ", func(i int) string { return strings.ReplaceAll(format, "#", fmt.Sprint(i)) })
	}
	const one, hundred = "{ VALUES ?a { 1 } }", "{ VALUES ?a { 0 1 2 3 4 5 6 7 8 9 } VALUES ?b { 0 1 2 3 4 5 6 7 8 9 } }"
	g := NewBuilder().Graph(Options{Timeout: -1})
	looks := func(query string) int {
		ctx := &lookedAt{Context: t.Context()}
		if _, err := g.Query(ctx, query); err != nil {
			t.Errorf("%.40s: %v", query, err)
		}
		return ctx.times
	}
	for name, query := range map[string]string{
		"group keys": "SELECT (COUNT(*) AS ?n) WHERE GROUP BY " + numbered("(?a+# AS ?k#)"),
		"aggregates": "SELECT " + numbered("(MAX(?a+#) AS ?k#)") + " WHERE",
		"order keys": "SELECT ?a WHERE ORDER BY " + numbered("(?a+#)"),
		"projected":  "SELECT " + numbered("(?a+# AS ?k#)") + " WHERE",
	} {
		n := looks(strings.Replace(query, "WHERE", hundred, 1)) - looks(strings.Replace(query, "WHERE", one, 1))
		if n < 90 {
			t.Errorf("%s: for 99 more solutions, the query checked its limits only %d more times", name, n)
		}
	}
}

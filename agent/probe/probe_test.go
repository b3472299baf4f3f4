package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

var wikidata = variant.Options{Wikidata: true, Types: []string{rdf.Direct + "P31"}, Subclass: rdf.Direct + "P279"}

// table returns a result with the items in a single column ?x.
func table(ids ...string) *kg.Table {
	t := &kg.Table{Vars: []string{"x"}}
	for _, id := range ids {
		t.Rows = append(t.Rows, []rdf.Term{rdf.IRI(rdf.Entity + id)})
	}
	return t
}

// task returns a task whose query has class, rank, place and country variants.
func task(run func(ctx context.Context, query string) (*kg.Table, error)) Task {
	return Task{Settings: Settings{Queries: 8, Seconds: 15}, Query: "SELECT ?x { ?x wdt:P31 wd:Q515 ; wdt:P17 wd:Q183 ; wdt:P131 wd:Q1 }",
		Table: table("Q1", "Q2"), Options: wikidata, Run: run, Now: func() time.Time { return time.Unix(0, 0) }}
}

// TestBudget checks that probes never use more queries or more time than allowed, regardless of the graph's behavior,
// and that the run's remaining time takes precedence over the settings.
func TestBudget(t *testing.T) {
	for queries := range 7 {
		for _, took := range []time.Duration{0, time.Second, 4 * time.Second, time.Hour} {
			now, sent := time.Unix(0, 0), 0
			one := task(func(ctx context.Context, _ string) (*kg.Table, error) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				sent++
				now = now.Add(min(took, oneTime))
				return table("Q1", "Q2", fmt.Sprint("Q", 3+sent)), nil
			})
			one.Queries, one.Now, one.Time = queries, func() time.Time { return now }, 9*time.Second
			probes, err := Run(t.Context(), one)
			if err != nil || sent > queries || queries > 0 && len(probes) == 0 {
				t.Fatalf("%d of %d queries, %v", sent, queries, err)
			}
			if spent := now.Sub(time.Unix(0, 0)); spent > 9*time.Second+min(took, oneTime) {
				t.Errorf("spent %v, with %v per query", spent, took)
			}
		}
	}
}

// TestFailures checks that a failed variant is not treated as a change, that a slow or broken service is not queried
// again, and that a failure to write the log ends the run.
func TestFailures(t *testing.T) {
	for kind, want := range map[kg.Kind]int{kg.QueryFailed: 5, kg.TooGreedy: 5, kg.Timeout: 1, kg.Down: 1, kg.Banned: 1, "": 1} {
		sent := 0
		probes, err := Run(t.Context(), task(func(context.Context, string) (*kg.Table, error) {
			if sent++; kind == "" {
				return nil, context.DeadlineExceeded
			}
			return nil, kg.Errorf(kind, "no")
		}))
		if err != nil || sent != want || len(Moved(probes)) > 0 {
			t.Errorf("%q: %d queries, want %d, %v", kind, sent, want, err)
		}
	}
	broken := &event.WriteError{Err: errors.New("disk full")}
	if _, err := Run(t.Context(), task(func(context.Context, string) (*kg.Table, error) { return nil, broken })); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestCompare checks which differences between results are treated as a change.
func TestCompare(t *testing.T) {
	number := func(n string) *kg.Table {
		return &kg.Table{Vars: []string{"n"}, Rows: [][]rdf.Term{{rdf.Typed(n, rdf.XSD+"integer")}}}
	}
	many := func(from, to int) (ids []string) {
		for i := from; i <= to; i++ {
			ids = append(ids, fmt.Sprint("Q", i))
		}
		return ids
	}
	for _, tt := range []struct {
		name       string
		query      string
		was, now   *kg.Table
		kind       variant.Kind
		come, gone int
		moved      bool
	}{
		{"the same rows in a different order", "SELECT ?x { ?x wdt:P31 wd:Q515 }", table("Q1", "Q2"), table("Q2", "Q1"),
			variant.Subclasses, 0, 0, false},
		{"more rows", "SELECT ?x { ?x wdt:P31 wd:Q515 }", table("Q1", "Q2"), table("Q2", "Q1", "Q3"), variant.Subclasses, 1,
			0, true},
		{"too many to be what was missed", "SELECT ?x { ?x wdt:P31 wd:Q515 }", table(many(1, 5)...), table(many(1, 16)...),
			variant.Subclasses, 11, 0, false},
		{"a structure that the graph lacks", "SELECT ?x { ?x p:P39 ?s }", table("Q1"), table(), variant.Ranks, 0, 0, false},
		{"fewer rows", "SELECT ?x { ?x p:P39 ?s }", table("Q1", "Q2"), table("Q1"), variant.Ranks, 0, 1, true},
		{"another number", "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 wd:Q515 }", number("2"), number("3"), variant.Subclasses, 1, 1,
			true},
		{"a number of 0", "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 wd:Q515 }", number("2"), number("0"), variant.Subclasses, 0, 0,
			false},
		{"a single value is the best of several", "SELECT ?x { wd:Q1 wdt:P6 ?x }", table("Q1"), table("Q1", "Q2"),
			variant.Ranks, 1, 0, false},
		{"a yes", "ASK { wd:Q1 wdt:P31 wd:Q515 ; wdt:P6 wd:Q2 }", &kg.Table{Ask: true}, &kg.Table{Ask: true, Boolean: true},
			variant.Ranks, 1, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one := task(func(context.Context, string) (*kg.Table, error) { return tt.now, nil })
			one.Query, one.Table = tt.query, tt.was
			probes, err := Run(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range probes {
				if p.Kind == string(tt.kind) {
					if p.Come != tt.come || p.Gone != tt.gone || p.Moved != tt.moved {
						t.Errorf("%+v, want %d more, %d fewer", p, tt.come, tt.gone)
					}
					return
				}
			}
			t.Errorf("no probe of kind %s: %+v", tt.kind, probes)
		})
	}
}

// TestColumns checks that rows are compared by the answer columns and shown with labels.
func TestColumns(t *testing.T) {
	one := task(func(_ context.Context, q string) (*kg.Table, error) {
		out := table("Q1", "Q2", "Q3")
		out.Vars = append(out.Vars, "extra")
		for i := range out.Rows {
			out.Rows[i] = append(out.Rows[i], rdf.String(strings.Repeat("other", i)))
		}
		return out, nil
	})
	one.Query, one.Columns = "SELECT ?x ?extra { ?x wdt:P31 wd:Q515 ; wdt:P373 ?extra }", []string{"x"}
	one.Off = []variant.Kind{variant.Missing, variant.Ranks}
	one.Table = &kg.Table{Vars: []string{"x", "extra"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.String("a")},
		{rdf.IRI(rdf.Entity + "Q2"), rdf.String("b")}}}
	probes, err := Run(t.Context(), one)
	if err != nil || len(probes) != 1 || probes[0].Come != 1 || probes[0].Gone != 0 {
		t.Fatalf("%+v, %v", probes, err)
	}
	id := func(t rdf.Term) string { return rdf.EntityID(t.Value) }
	if got := strings.Join(IDs(probes, id), " "); got != "Q3 Q515" {
		t.Errorf("labels are requested: %s", got)
	}
	shown := Show(probes, id, render.Names{Labels: map[string]string{"Q3": "Kiel", "Q515": "city"}})
	if len(shown) != 1 || shown[0].What != "with subclasses of city (wd:Q515)" || shown[0].New[0] != "Kiel (Q3)" {
		t.Errorf("%+v", shown)
	}
}

// The order in GROUP_CONCAT is not defined, so it does not make rows differ.
func TestOrderInText(t *testing.T) {
	a, b := []rdf.Term{rdf.String("UTC−08:00, Pacific Time Zone")}, []rdf.Term{rdf.String("Pacific Time Zone, UTC−08:00")}
	if key(a, []int{0}) != key(b, []int{0}) {
		t.Error("the order of the parts makes a difference")
	}
	c := []rdf.Term{rdf.String("Pacific Time Zone, UTC−07:00")}
	if key(a, []int{0}) == key(c, []int{0}) || key(a, []int{0}) == key([]rdf.Term{rdf.IRI("UTC−08:00, Pacific Time Zone")}, []int{0}) {
		t.Error("different rows are equal")
	}
}

// A row without any value is not a change.
func TestEmptyRow(t *testing.T) {
	one := task(func(context.Context, string) (*kg.Table, error) {
		more := table("Q1", "Q2")
		more.Rows = append(more.Rows, []rdf.Term{{}})
		return more, nil
	})
	probes, err := Run(t.Context(), one)
	if err != nil || len(probes) == 0 || len(Moved(probes)) != 0 {
		t.Errorf("%+v, %v", probes, err)
	}
}

// Command probes measures the probes in package agent/probe on a graph that fits in memory: how often each kind changes
// the result of a correct query, which is a false alarm, and how often it leads from a wrong query to a better result.
//
//	probes [-queries 8] [-off kind,…] [-answers LOG] [-skip FILE] GRAPH QUESTIONS
//
// QUESTIONS is a benchmark in any format that package dataset reads; its gold queries are the correct queries. LOG
// contains a system's queries: it is SPINACH's log, or a JSON array of {"question", "final_sparql": {"sparql"}}. FILE
// is a JSON object whose lists contain the IDs of questions to skip.
//
// The check on an answer's shape (step.ShapeFaults) is measured in the same way, as if the model had announced as many
// columns as the gold query has: how many correct and wrong queries would trigger feedback, and how often following it
// would improve the result by removing surplus columns or by returning items instead of names. Results are scored with
// our "fair" metric, which penalizes surplus columns.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/probe"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

func main() {
	queries := flag.Int("queries", 8, "maximum number of queries to probe one query")
	off := flag.String("off", "", "kinds to omit, separated by commas")
	answers := flag.String("answers", "", "queries of a system")
	skip := flag.String("skip", "", "questions that are left out")
	verbose := flag.Bool("v", false, "list every change")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: probes [flags] GRAPH QUESTIONS")
		os.Exit(2)
	}
	b := &bench{settings: probe.Settings{Queries: *queries, Seconds: 60}, verbose: *verbose, out: os.Stdout,
		shapes: map[bool]map[step.ShapeKind]*sum{true: {}, false: {}}}
	for k := range strings.SplitSeq(*off, ",") {
		b.settings.Off = append(b.settings.Off, variant.Kind(k))
	}
	if err := b.measure(context.Background(), flag.Arg(0), flag.Arg(1), *answers, *skip); err != nil {
		fmt.Fprintln(os.Stderr, "probes:", err)
		os.Exit(1)
	}
}

// bench contains the data that all measurements share.
type bench struct {
	settings probe.Settings
	verbose  bool
	out      io.Writer
	graph    *embedded.Graph
	shapes   map[bool]map[step.ShapeKind]*sum // for correct and wrong queries
}

// sum adds up the probes of one kind.
type sum struct{ run, failed, moved, better, worse int }

func (b *bench) measure(ctx context.Context, graph, questions, answers, skip string) error {
	now := func() time.Time { return time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC) }
	var err error
	if b.graph, err = embedded.Load(embedded.Options{Now: now, Timeout: 10 * time.Second}, graph); err != nil {
		return err
	}
	items, err := readItems(questions, skip)
	if err != nil {
		return err
	}
	gold := map[string]string{}
	for _, it := range items {
		gold[it.Question] = it.SPARQL
	}
	if answers == "" {
		return b.report(ctx, gold, gold)
	}
	predicted, err := readAnswers(answers, gold)
	if err != nil {
		return err
	}
	return b.report(ctx, gold, predicted)
}

func readItems(questions, skip string) ([]dataset.Item, error) {
	f, err := os.Open(questions)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	if err != nil || skip == "" {
		return items, err
	}
	data, err := os.ReadFile(skip)
	if err != nil {
		return nil, err
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(data, &lists); err != nil {
		return nil, err
	}
	var ids []string
	for _, raw := range lists {
		var list []string
		if json.Unmarshal(raw, &list) == nil { // skips a string that describes the lists
			ids = append(ids, list...)
		}
	}
	words := map[string]bool{} // duplicate questions are possible
	for _, it := range items {
		words[it.Question] = words[it.Question] || slices.Contains(ids, it.ID)
	}
	return slices.DeleteFunc(items, func(it dataset.Item) bool { return words[it.Question] }), nil
}

func readAnswers(file string, gold map[string]string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var log []struct {
		Question string
		Final    *struct{ SPARQL string } `json:"final_sparql"`
	}
	if err := json.Unmarshal(data, &log); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, x := range log {
		if x.Final != nil && gold[x.Question] != "" {
			out[x.Question] = x.Final.SPARQL
		}
	}
	if len(out) == 0 {
		return nil, errors.New("none of the answers belong to the questions")
	}
	return out, nil
}

// report probes every query and prints the outcome by kind: for all queries, and for correct and wrong queries.
func (b *bench) report(ctx context.Context, gold, queries map[string]string) error {
	kinds := map[bool]map[string]*sum{true: {}, false: {}}
	count, disturbed, helped, asked := map[bool]int{}, map[bool]int{}, map[bool]int{}, map[bool]int{}
	var took time.Duration
	for _, question := range sortedKeys(queries) {
		want, err := b.graph.Query(ctx, sparql.ReplaceAutoLanguage(gold[question], "en"))
		query := sparql.ReplaceAutoLanguage(queries[question], "en")
		table, err2 := b.graph.Query(ctx, query)
		if err != nil || err2 != nil || want.Empty() || table.Empty() {
			continue
		}
		f1, err := b.f1(ctx, want, table)
		if err != nil {
			return err
		}
		right := f1 > 0.999
		count[right]++
		if err := b.shape(ctx, question, query, want, table, right); err != nil {
			return err
		}
		began := time.Now()
		probes, err := b.probe(ctx, query, table, &asked, right)
		if err != nil {
			return err
		}
		took += time.Since(began)
		moved, better := false, false
		for _, p := range probes {
			s := kinds[right][p.Kind]
			if s == nil {
				s = &sum{}
				kinds[right][p.Kind] = s
			}
			s.run++
			if p.Failure != "" {
				s.failed++
			}
			if !p.Moved {
				continue
			}
			moved = true
			s.moved++
			then := f1
			if t, err := b.graph.Query(ctx, p.SPARQL); err == nil && p.SPARQL != "" {
				if then, err = b.f1(ctx, want, t); err != nil {
					return err
				}
			}
			if then > f1 {
				s.better, better = s.better+1, true
			} else if then < f1 {
				s.worse++
			}
			if b.verbose {
				fmt.Fprintf(b.out, "%v %.2f to %.2f, %s: %s (%d, +%d -%d)\n  %s\n", right, f1, then, p.Kind, p.What, p.Before,
					p.Come, p.Gone, strings.Join(strings.Fields(query), " "))
			}
		}
		if moved {
			disturbed[right]++
		}
		if better {
			helped[right]++
		}
	}
	for _, right := range []bool{true, false} {
		if count[right] == 0 {
			continue
		}
		name := map[bool]string{true: "right", false: "wrong"}[right]
		fmt.Fprintf(b.out, "\n%d %s queries: the model is told something on %d (%.1f%%); a probe is better on %d; "+
			"%.1f queries each\n\n", count[right], name, disturbed[right], 100*float64(disturbed[right])/float64(count[right]),
			helped[right], float64(asked[right])/float64(count[right]))
		if err := errors.Join(b.table(kinds[right]), b.shapeTable(right)); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "\n%s in all\n", took.Round(time.Millisecond))
	return nil
}

func (b *bench) table(kinds map[string]*sum) error {
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\trun\tfailed\tshown\tbetter\tworse\t")
	for _, k := range variant.Kinds {
		if s := kinds[string(k)]; s != nil {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t\n", k, s.run, s.failed, s.moved, s.better, s.worse)
		}
	}
	return t.Flush()
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// probe runs the probes for a query as the agent does on Wikidata.
func (b *bench) probe(ctx context.Context, query string, table *kg.Table, asked *map[bool]int,
	right bool) ([]event.Probe, error) {
	return probe.Run(ctx, probe.Task{Settings: b.settings, Query: query, Table: table,
		Options: variant.Options{Wikidata: true, Types: []string{rdf.Direct + "P31"}, Subclass: rdf.Direct + "P279",
			Labels: []string{rdf.RDFSLabel}}, Now: time.Now,
		Run: func(ctx context.Context, q string) (*kg.Table, error) {
			(*asked)[right]++
			return b.graph.Query(ctx, q)
		}})
}

func (b *bench) f1(ctx context.Context, want, got *kg.Table) (float64, error) {
	return b.score(ctx, want, got, score.MetricSpinach)
}

func (b *bench) score(ctx context.Context, want, got *kg.Table, m score.Metric) (float64, error) {
	w, err := rowsOf(want)
	if err != nil {
		return 0, err
	}
	g, err := rowsOf(got)
	if err != nil {
		return 0, err
	}
	s, err := score.CompareJSON(ctx, w, g, score.Hint{}, score.Limits{}, m)
	if err != nil {
		return 0, err
	}
	f1, _, _ := s.F1EM(m)
	return f1, nil
}

// rowsOf encodes a result in the form that package score reads.
func rowsOf(t *kg.Table) (json.RawMessage, error) {
	if t.Ask {
		return json.Marshal(t.Boolean)
	}
	return json.Marshal(t)
}

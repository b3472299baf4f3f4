package rewrite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// TestRewritesKeepTheRows runs the slice's gold queries and the forum's queries on the embedded graph: unchanged,
// printed, in posting form and rewritten. It takes a long time, so it runs only with SPINACHBOT_SLICE=1.
func TestRewritesKeepTheRows(t *testing.T) {
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	slice := filepath.Join(root, "data", "slice", "wikidata-slice.nt.gz")
	if _, err := os.Stat(slice); err != nil || os.Getenv("SPINACHBOT_SLICE") == "" {
		t.Skip("needs the reference data's slice and SPINACHBOT_SLICE=1")
	}
	g, err := embedded.Load(embedded.Options{Timeout: 5 * time.Second, Now: time.Now}, slice)
	if err != nil {
		t.Fatal(err)
	}
	queries := read(t, filepath.Join(root, "data", "slice", "questions-dev.jsonl"), "sparql")
	queries = append(queries, read(t, filepath.Join(root, "data", "forum", "raq_queries.jsonl"), "query")...)
	count := map[string]int{}
	for _, query := range queries {
		q, err := sparql.Parse(query)
		if err != nil || q.Form != sparql.Select && q.Form != sparql.Ask || strings.Contains(strings.ToUpper(query),
			"NOW(") {
			continue
		}
		want, err := rows(g, query, q)
		if err != nil {
			count[fmt.Sprintf("not run: %.60v", err)]++
			continue
		}
		if len(want) > 1 {
			count["with rows"]++
		}
		check := func(name, text string) { compare(t, g, q, query, want, name, text, count) }
		check("printed", q.String())
		if f, err := sparql.PostingForm(query, func(id string) string { return "a label [[of]] " + id }); err == nil {
			check("posted", f)
		}
		if q.Body.Limit == nil {
			forms, err := rewrite.Faster(query, rewrite.Slow{Blazegraph: true})
			if err != nil {
				t.Errorf("%v\n%s", err, query)
			}
			for _, f := range forms {
				check("faster", f.Text)
			}
		}
		for _, to := range []rewrite.Target{rewrite.Standard, rewrite.QLever, rewrite.WDQS} {
			if q.Body.Limit != nil && q.Body.OrderBy == nil {
				continue // any rows will do
			}
			r, err := rewrite.Query(query, to, rewrite.Options{Language: "en"})
			if err != nil {
				count[string(to)+" impossible"]++
				continue
			}
			if strings.Contains(strings.Join(r.Notes, ""), "may differ") || strings.Contains(r.Text,
				"scholarly_articles") || strings.Contains(r.Text, "skos:altLabel") {
				continue
			}
			check(string(to), r.Text)
		}
	}
	for k, n := range count {
		t.Log(n, k)
	}
}

// compare runs a different form of a query and counts the outcome: whether it returned the expected rows.
func compare(t *testing.T, g *embedded.Graph, q *sparql.Query, query string, want []string, name, text string,
	count map[string]int) {
	t.Helper()
	got, err := rows(g, text, q)
	if kg.KindOf(err) == kg.Timeout || kg.KindOf(err) == kg.TooGreedy {
		count[name+" timeout"]++
		return
	}
	if err != nil {
		t.Errorf("%s: %v\n%s\n---\n%s", name, err, query, text)
		return
	}
	d := difference(want, got)
	if d != "" && (name == "standard" || name == "qlever") && difference(unlabeled(want, q), unlabeled(got, q)) == "" {
		count[name+" same except for items with two labels in one language"]++
		return
	}
	if d != "" {
		count[name+" differs"]++
		t.Errorf("%s: the rows differ: %s\n%s\n---\n%s", name, d, query, text)
		return
	}
	count[name+" same"]++
}

func read(t *testing.T, path, field string) []string {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var x map[string]json.RawMessage
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		var q string
		if err := json.Unmarshal(x[field], &q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// rows runs a query and returns its rows as sorted lines, with columns sorted by name. Values whose choice or order is
// up to the engine are masked.
func rows(g *embedded.Graph, text string, q *sparql.Query) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	t, err := g.Query(ctx, sparql.ReplaceAutoLanguage(text, "en"))
	if err != nil {
		return nil, err
	}
	if t.Ask {
		return []string{fmt.Sprint(t.Boolean)}, nil
	}
	free := map[string]bool{}
	for _, it := range q.Body.Items {
		if it.Expr != nil && it.Expr.Kind == sparql.ExprAggregate && (it.Expr.Op == "SAMPLE" ||
			it.Expr.Op == "GROUP_CONCAT") {
			free[it.Var] = true
		}
	}
	order := make([]int, len(t.Vars)) // sort columns by name: with SELECT *, their order is up to the engine
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return t.Vars[order[i]] < t.Vars[order[j]] })
	var vars []string
	for _, i := range order {
		if !free[t.Vars[i]] {
			vars = append(vars, t.Vars[i])
		}
	}
	out := []string{strings.Join(vars, " ")}
	for _, r := range t.Rows {
		var cells []string
		for _, i := range order {
			if !free[t.Vars[i]] {
				cells = append(cells, r[i].String())
			}
		}
		out = append(out, strings.Join(cells, "\t"))
	}
	sort.Strings(out[1:])
	return out, nil
}

// unlabeled returns the distinct rows without label columns: some items in the slice have two labels in the same
// language, and the label service uses only one.
func unlabeled(rows []string, q *sparql.Query) []string {
	if q.Form != sparql.Select || len(rows) == 0 {
		return rows
	}
	vars := strings.Split(rows[0], " ")
	seen := map[string]bool{}
	out := []string{rows[0]}
	for _, r := range rows[1:] {
		cells := strings.Split(r, "\t")
		var kept []string
		for i, c := range cells {
			if i >= len(vars) || !strings.HasSuffix(vars[i], "Label") {
				kept = append(kept, c)
			}
		}
		if k := strings.Join(kept, "\t"); !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	sort.Strings(out[1:])
	return out
}

func difference(want, got []string) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d instead of %d", len(got)-1, len(want)-1)
	}
	for i := range want {
		if want[i] != got[i] {
			return fmt.Sprintf("%q instead of %q", got[i], want[i])
		}
	}
	return ""
}

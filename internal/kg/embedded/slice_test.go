package embedded

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TestSlice loads the reference slice of Wikidata within time and memory limits and runs the gold queries of its
// questions. Each query, in standard SPARQL and in the query service's dialect, must return the rows that Virtuoso and
// Oxigraph returned.
func TestSlice(t *testing.T) {
	path := sharedDir(t, "data", "slice", "wikidata-slice.nt.gz")
	start := time.Now()
	g, err := Load(Options{Now: time.Now, Timeout: 10 * time.Second}, path)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d triples in %v, %d MB", g.Len(), took.Round(time.Millisecond), m.HeapAlloc>>20)
	if g.Len() != 527_007 || m.HeapAlloc > 400<<20 {
		t.Errorf("%d triples in %v, %d MB", g.Len(), took, m.HeapAlloc>>20)
	}
	f, err := os.Open(sharedDir(t, "data", "slice", "questions-dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	n := 0
	for lines.Scan() {
		n++
		checkGold(t, g, lines.Bytes())
	}
	if n != 458 {
		t.Errorf("%d questions", n)
	}
}

func checkGold(t *testing.T, g *Graph, line []byte) {
	var q struct {
		ID       string          `json:"id"`
		Dialect  string          `json:"sparql"`
		Standard string          `json:"sparql_standard"`
		Result   json.RawMessage `json:"slice_result"`
		Vars     []string        `json:"vars"`
	}
	if err := json.Unmarshal(line, &q); err != nil {
		t.Fatal(err)
	}
	want := goldTable(t, q.Result, q.Vars)
	std, err := g.Query(context.Background(), q.Standard)
	if err != nil {
		t.Errorf("%s: %v", q.ID, err)
		return
	}
	if !slices.Equal(byValue(std), byValue(want)) {
		t.Errorf("%s: %d rows, want %d", q.ID, len(std.Rows), len(want.Rows))
	}
	own, err := g.Query(context.Background(), q.Dialect)
	if err != nil {
		t.Errorf("%s in the dialect: %v", q.ID, err)
		return
	}
	for _, r := range own.Rows { // without a label, the service returns the ID, and the standard form returns nothing
		for i, c := range r {
			if c.IsLiteral() && rdf.ValidID(c.Value) {
				r[i] = rdf.Term{}
			}
		}
	}
	if !slices.Equal(byValue(own), byValue(want)) && !strings.Contains(q.Dialect, "LIMIT") && !strings.Contains(q.Dialect,
		"SAMPLE") {
		t.Errorf("%s in the dialect: %d rows, want %d\n%s\n got %.300q\nwant %.300q", q.ID, len(own.Rows), len(want.Rows),
			q.Dialect, byValue(own), byValue(want))
	}
}

// goldTable reads a stored result: a boolean or bindings.
func goldTable(t *testing.T, result json.RawMessage, vars []string) *kg.Table {
	t.Helper()
	switch {
	case bytes.Equal(result, []byte("true")), bytes.Equal(result, []byte("false")):
		return &kg.Table{Ask: true, Boolean: result[0] == 't'}
	case result[0] == '[':
		head, err := json.Marshal(vars)
		if err != nil {
			t.Fatal(err)
		}
		result = fmt.Appendf(nil, `{"head":{"vars":%s},"results":{"bindings":%s}}`, head, result)
	}
	var tab kg.Table
	if err := json.Unmarshal(result, &tab); err != nil {
		t.Fatal(err)
	}
	return &tab
}

// byValue returns the rows as sorted strings, with columns in name order, numbers rounded to nine digits, and language
// tags dropped.
func byValue(tab *kg.Table) []string {
	if tab.Ask {
		return []string{fmt.Sprint(tab.Boolean)}
	}
	cols := make([]int, len(tab.Vars))
	for i := range cols {
		cols[i] = i
	}
	slices.SortFunc(cols, func(a, b int) int { return strings.Compare(tab.Vars[a], tab.Vars[b]) })
	var out []string
	for _, r := range tab.Rows {
		var b strings.Builder
		for _, i := range cols {
			if v := value.Of(r[i]); v.IsNumeric() {
				fmt.Fprintf(&b, "%.9g|", v.AsFloat())
			} else {
				b.WriteString(r[i].Value + "|")
			}
		}
		out = append(out, b.String())
	}
	slices.Sort(out)
	return out
}

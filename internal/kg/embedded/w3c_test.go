package embedded

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/tggo/goRDFlib/graph"
	"github.com/tggo/goRDFlib/rdfxml"
)

// skippedW3C lists the tests in the W3C suites that are skipped, by folder/name, and why. A folder without a name means
// all tests in that folder.
var skippedW3C = map[string]string{
	"sparql10/dataset": "named graphs: FROM and GRAPH are refused",
	"sparql10/graph":   "named graphs: FROM and GRAPH are refused",
	"sparql11/service": "federation is refused",
	"sparql10/optional-filter/dawg-optional-filter-005-simplified": "contradicts dawg-optional-filter-005-not-simplified, which follows SPARQL 1.1's algebra",
}

const (
	mfNS = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	qtNS = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
	rsNS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
)

type w3cTest struct {
	name, query, result string
	data                []string
	named               bool
}

func loadTurtle(t *testing.T, paths ...string) *Graph {
	t.Helper()
	b := NewBuilder()
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		b.Base = "file://" + p
		name := p
		if strings.HasSuffix(p, ".rdf") {
			err = rdfxml.Parse(graph.NewGraph(graph.WithStore(store.NewTripleSink(b.Builder))), f, rdfxml.WithBase(b.Base))
		} else {
			err = b.Read(name, f)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	n := 0
	return b.Graph(Options{Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) },
		Random: func() uint64 { n++; return uint64(n) * 0x9E3779B97F4A7C15 }})
}

// one returns the object of the first triple with the given subject and predicate.
func one(g *Graph, s rdf.Term, p string) rdf.Term {
	for _, q := range g.store.Objects(g.store.Lookup(s), g.store.Lookup(rdf.IRI(p))) {
		return g.store.Term(q.B)
	}
	return rdf.Term{}
}

func many(g *Graph, s rdf.Term, p string) []rdf.Term {
	var out []rdf.Term
	for _, q := range g.store.Objects(g.store.Lookup(s), g.store.Lookup(rdf.IRI(p))) {
		out = append(out, g.store.Term(q.B))
	}
	return out
}

func local(iri string) string { return strings.TrimPrefix(iri, "file://") }

func manifestTests(t *testing.T, dir string) []w3cTest {
	g := loadTurtle(t, filepath.Join(dir, "manifest.ttl"))
	var out []w3cTest
	for _, q := range g.store.OPS.Sub(g.store.Lookup(rdf.IRI(mfNS+"QueryEvaluationTest")),
		g.store.Lookup(rdf.IRI(rdf.RDFType))) {
		s := g.store.Term(q.B)
		tst := w3cTest{name: s.Value[strings.LastIndexAny(s.Value, "#/")+1:], result: local(one(g, s, mfNS+"result").Value)}
		a := one(g, s, mfNS+"action")
		tst.query = local(one(g, a, qtNS+"query").Value)
		for _, d := range many(g, a, qtNS+"data") {
			tst.data = append(tst.data, local(d.Value))
		}
		tst.named = len(many(g, a, qtNS+"graphData")) > 0
		out = append(out, tst)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}

func TestW3C(t *testing.T) {
	root, err := filepath.Abs(sharedDir(t, "data", "w3c", "sparql"))
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, v := range []string{"sparql10", "sparql11"} {
		found, _ := filepath.Glob(filepath.Join(root, v, "*", "manifest.ttl"))
		dirs = append(dirs, found...)
	}
	for _, m := range dirs {
		dir := filepath.Dir(m)
		folder := filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
		t.Run(folder, func(t *testing.T) {
			for _, x := range manifestTests(t, dir) {
				t.Run(x.name, func(t *testing.T) {
					if why := skippedW3C[folder]; why != "" {
						t.Skip(why)
					}
					if why := skippedW3C[folder+"/"+x.name]; why != "" {
						t.Skip(why)
					}
					runW3C(t, x)
				})
			}
		})
	}
}

func runW3C(t *testing.T, x w3cTest) {
	if x.named {
		t.Skip("named graphs")
	}
	text, err := os.ReadFile(x.query)
	if err != nil {
		t.Fatal(err)
	}
	g := loadTurtle(t, x.data...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	got, err := g.Query(ctx, "BASE <file://"+x.query+">\n"+string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want, ordered := expectedW3C(t, x.result)
	if diff := compareTables(got, want, ordered && strings.Contains(strings.ToUpper(string(text)),
		"ORDER BY")); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
}

// expectedW3C reads a result file. ordered reports whether the order of its rows matters.
func expectedW3C(t *testing.T, path string) (*kg.Table, bool) {
	t.Helper()
	switch filepath.Ext(path) {
	case ".srx":
		return readSRX(t, path), true
	case ".srj":
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var tab kg.Table
		if err := json.Unmarshal(data, &tab); err != nil {
			t.Fatal(err)
		}
		return &tab, true
	case ".ttl", ".nt", ".rdf":
		return readResultGraph(t, path)
	}
	t.Skip("the format of " + filepath.Base(path) + " is tested with the writers")
	return nil, false
}

func readSRX(t *testing.T, path string) *kg.Table {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Vars []struct {
			Name string `xml:"name,attr"`
		} `xml:"head>variable"`
		Boolean *bool `xml:"boolean"`
		Results []struct {
			Bindings []struct {
				Name    string  `xml:"name,attr"`
				URI     *string `xml:"uri"`
				Bnode   *string `xml:"bnode"`
				Literal *struct {
					Lang string `xml:"lang,attr"`
					Type string `xml:"datatype,attr"`
					Text string `xml:",chardata"`
				} `xml:"literal"`
			} `xml:"binding"`
		} `xml:"results>result"`
	}
	if err := xml.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	tab := &kg.Table{}
	if x.Boolean != nil {
		tab.Ask, tab.Boolean = true, *x.Boolean
		return tab
	}
	at := map[string]int{}
	for i, v := range x.Vars {
		tab.Vars = append(tab.Vars, v.Name)
		at[v.Name] = i
	}
	for _, r := range x.Results {
		row := make([]rdf.Term, len(tab.Vars))
		for _, b := range r.Bindings {
			switch {
			case b.URI != nil:
				row[at[b.Name]] = rdf.IRI(*b.URI)
			case b.Bnode != nil:
				row[at[b.Name]] = rdf.Blank(*b.Bnode)
			case b.Literal.Lang != "":
				row[at[b.Name]] = rdf.LangString(b.Literal.Text, b.Literal.Lang)
			default:
				row[at[b.Name]] = rdf.Typed(b.Literal.Text, b.Literal.Type)
			}
		}
		tab.Rows = append(tab.Rows, row)
	}
	return tab
}

// readResultGraph reads a result set written as RDF, or the resulting graph of a CONSTRUCT query.
func readResultGraph(t *testing.T, path string) (*kg.Table, bool) {
	g := loadTurtle(t, path)
	sets := g.store.OPS.Sub(g.store.Lookup(rdf.IRI(rsNS+"ResultSet")), g.store.Lookup(rdf.IRI(rdf.RDFType)))
	tab := &kg.Table{}
	if len(sets) == 0 {
		tab.Vars = []string{"subject", "predicate", "object"}
		for n := value.ID(1); n < value.ID(g.store.Size()); n++ {
			for _, q := range g.store.SPO.Run(n) {
				tab.Rows = append(tab.Rows, []rdf.Term{g.store.Term(n), g.store.Term(q.A), g.store.Term(q.B)})
			}
		}
		return tab, false
	}
	set := g.store.Term(sets[0].B)
	if b := one(g, set, rsNS+"boolean"); b.Bound() {
		tab.Ask, tab.Boolean = true, b.Value == "true"
		return tab, false
	}
	at := map[string]int{}
	for _, v := range many(g, set, rsNS+"resultVariable") {
		at[v.Value] = len(tab.Vars)
		tab.Vars = append(tab.Vars, v.Value)
	}
	sols := many(g, set, rsNS+"solution")
	index := func(s rdf.Term) int { v := value.Of(one(g, s, rsNS+"index")); return int(v.Num.Digits) }
	sort.SliceStable(sols, func(i, j int) bool { return index(sols[i]) < index(sols[j]) })
	for _, s := range sols {
		row := make([]rdf.Term, len(tab.Vars))
		for _, b := range many(g, s, rsNS+"binding") {
			row[at[one(g, b, rsNS+"variable").Value]] = one(g, b, rsNS+"value")
		}
		tab.Rows = append(tab.Rows, row)
	}
	return tab, len(sols) > 0 && one(g, sols[0], rsNS+"index").Bound()
}

// compareTables describes how the tables differ, or returns "" if they contain the same rows up to blank node names.
// Numbers are compared by value.
func compareTables(got, want *kg.Table, ordered bool) string {
	if got.Ask != want.Ask || got.Boolean != want.Boolean {
		return fmt.Sprintf("got ask=%v %v, want ask=%v %v", got.Ask, got.Boolean, want.Ask, want.Boolean)
	}
	if len(got.Vars) != len(want.Vars) || len(got.Rows) != len(want.Rows) {
		return fmt.Sprintf("got %v with %d rows:\n%swant %v with %d rows:\n%s", got.Vars, len(got.Rows), show(got), want.Vars,
			len(want.Rows), show(want))
	}
	at := make([]int, len(want.Vars))
	for i, v := range want.Vars {
		at[i] = -1
		for j, w := range got.Vars {
			if v == w {
				at[i] = j
			}
		}
		if at[i] < 0 {
			return fmt.Sprintf("got columns %v, want %v", got.Vars, want.Vars)
		}
	}
	rows := make([][]rdf.Term, len(got.Rows))
	for i, r := range got.Rows {
		for _, j := range at {
			rows[i] = append(rows[i], r[j])
		}
	}
	used := make([]bool, len(rows))
	budget := 1_000_000
	if !matchRows(rows, want.Rows, used, map[string]string{}, map[string]string{}, 0, ordered, &budget) {
		return fmt.Sprintf("got\n%swant\n%s", show(got), show(want))
	}
	return ""
}

func show(t *kg.Table) string {
	var b strings.Builder
	for i, r := range t.Rows {
		if i == 30 {
			b.WriteString("…\n")
			break
		}
		for j, c := range r {
			fmt.Fprintf(&b, " ?%s=%s", t.Vars[j], c)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// matchRows matches want[i:] with unused rows, backtracking over blank node names.
func matchRows(rows, want [][]rdf.Term, used []bool, fwd, bwd map[string]string, i int, ordered bool,
	budget *int) bool {
	if i == len(want) {
		return true
	}
	for j := range rows {
		if used[j] || ordered && j != i {
			continue
		}
		if *budget--; *budget < 0 {
			return false
		}
		var added []string
		ok := true
		for k, w := range want[i] {
			g := rows[j][k]
			if g.Kind == rdf.BlankKind && w.Kind == rdf.BlankKind {
				switch {
				case fwd[g.Value] == "" && bwd[w.Value] == "":
					fwd[g.Value], bwd[w.Value] = w.Value, g.Value
					added = append(added, g.Value)
				case fwd[g.Value] != w.Value:
					ok = false
				}
			} else if !sameCell(g, w) {
				ok = false
			}
			if !ok {
				break
			}
		}
		if ok {
			used[j] = true
			if matchRows(rows, want, used, fwd, bwd, i+1, ordered, budget) {
				return true
			}
			used[j] = false
		}
		for _, a := range added {
			delete(bwd, fwd[a])
			delete(fwd, a)
		}
	}
	return false
}

func sameCell(g, w rdf.Term) bool {
	if g == w {
		return true
	}
	a, b := value.Of(g), value.Of(w)
	return a.IsNumeric() && b.IsNumeric() && a.Tag == b.Tag && value.Equal(a, b) == value.True
}

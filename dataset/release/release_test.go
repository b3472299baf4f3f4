package release_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/datasettest"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

var slice = sync.OnceValues(func() (*embedded.Graph, error) {
	return sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
})

// harvested returns a folder with ten candidates and their gold items, the fourth of which is modified.
func harvested(t *testing.T) (dir string, candidates []dataset.Candidate, golds []release.Gold, g *embedded.Graph) {
	t.Helper()
	g, err := slice()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	candidates, err = datasettest.Write(t.Context(), dir, g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range candidates {
		golds = append(golds, release.Gold{Candidate: &candidates[i], Query: candidates[i].Cleaned,
			Question: candidates[i].Suggestion.Natural, Validated: i > 0})
	}
	golds[3].Query, golds[3].Modified = candidates[3].Trimmed, true
	return dir, candidates, golds, g
}

// The reader for published benchmarks reads back every format exactly as it was written.
func TestExport(t *testing.T) {
	dir, _, golds, _ := harvested(t)
	for _, format := range release.Formats {
		items, err := release.Items(dir, golds, format == "qald")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := release.Write(&b, format, "bench", items); err != nil {
			t.Fatal(err)
		}
		back, _, err := dataset.ReadItems(&b)
		if err != nil || len(back) != len(golds) {
			t.Fatalf("%s: %d items, %v", format, len(back), err)
		}
		query := back[3].SPARQL
		if format == "grasp" {
			if !strings.HasPrefix(query, "PREFIX ") || strings.Contains(query, "SERVICE") {
				t.Errorf("no query for QLever: %s", query)
			}
			if err := json.Unmarshal(back[3].Info["wdqs_sparql"], &query); err != nil {
				t.Fatal(err)
			}
		}
		if back[3].ID != datasettest.ID(4) || query != golds[3].Query || back[3].Question != golds[3].Question {
			t.Errorf("%s: %+v", format, back[3])
		}
		if format == "spinach" && (back[2].Title != "German heads of government before reunification" ||
			back[2].URL != "https://www.wikidata.org/wiki/Wikidata:Request_a_query/Archive/2019/07") {
			t.Errorf("title and address: %+v", back[2])
		}
		if rows, ok := back[8].Bindings(); format == "qald" && (!ok || len(rows) != 2) {
			t.Errorf("QALD answers of the ninth: %v", rows)
		}
	}
	if err := release.Write(&bytes.Buffer{}, "xml", "", nil); err == nil {
		t.Error("an unknown format is written")
	}
	golds[0].Query = `SELECT ?x WHERE { SERVICE gas:service { gas:program gas:gasClass "x" ; gas:out ?x . } }`
	items, err := release.Items(dir, golds, false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := release.Write(&b, "grasp", "", items); err != nil || !strings.Contains(b.String(), "not_on_qlever") {
		t.Errorf("what QLever cannot run is not marked: %v", err)
	}
	golds[0].Query = "SELECT nothing"
	if _, err := release.Items(dir, golds, false); err == nil || !strings.Contains(err.Error(), datasettest.ID(1)) {
		t.Errorf("a gold query that does not parse: %v", err)
	}
}

// many returns n gold items. Items from the same month are neighbors.
func many(n int) ([]dataset.Candidate, []release.Gold) {
	cs := make([]dataset.Candidate, n)
	for i := range cs {
		cs[i] = dataset.Candidate{ID: fmt.Sprintf("c-%016x", 1000+i*7),
			Provenance: dataset.Provenance{Month: fmt.Sprintf("20%02d-%02d", 10+i/12, i%12+1)}}
	}
	return cs, goldsOf(cs)
}

func goldsOf(cs []dataset.Candidate) []release.Gold {
	golds := make([]release.Gold, len(cs))
	for i := range cs {
		golds[i] = release.Gold{Candidate: &cs[i], Query: fmt.Sprintf("SELECT ?x WHERE { ?x wdt:P31 wd:Q%d }", i+1)}
	}
	return golds
}

func ids(golds []release.Gold) map[string]bool {
	out := map[string]bool{}
	for _, g := range golds {
		out[g.Candidate.ID] = true
	}
	return out
}

// divide splits with the command's defaults.
func divide(cs []dataset.Candidate, golds []release.Gold, part release.Part, seed uint64) (dev, test []release.Gold) {
	s, _ := release.Divide(cs, golds, part, release.NearTemplate, seed)
	return s.Dev, s.Test
}

// Each kind of near-duplicate connects the candidates that it describes. A query with one property connects nothing, no
// matter how many share its outline.
func TestDivideByNearness(t *testing.T) {
	// 0 and 1: equal; 0 and 2: one of many numbers differs; 3 and 4: different entities; 3 and 5: different
	// properties; 6, 7: one property
	queries := []string{
		"SELECT ?a ?b ?c ?d WHERE { ?a wdt:P31 wd:Q5 . ?a wdt:P19 ?b . ?a wdt:P20 ?c . ?a wdt:P21 ?d . ?a wdt:P22 ?e . ?a wdt:P25 ?f . ?e wdt:P569 ?g . ?f wdt:P570 ?h }",
		"SELECT ?x ?b ?c ?d WHERE { ?x wdt:P31 wd:Q5 . ?x wdt:P19 ?b . ?x wdt:P20 ?c . ?x wdt:P21 ?d . ?x wdt:P22 ?e . ?x wdt:P25 ?f . ?e wdt:P569 ?g . ?f wdt:P570 ?h }",
		"SELECT ?a ?b ?c ?d WHERE { ?a wdt:P31 wd:Q5 . ?a wdt:P19 ?b . ?a wdt:P20 ?c . ?a wdt:P21 ?d . ?a wdt:P22 ?e . ?a wdt:P25 ?f . ?e wdt:P569 ?g . ?f wdt:P571 ?h }",
		"SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 wd:Q843 }",
		"SELECT ?m WHERE { ?m wdt:P31 wd:Q4022 ; wdt:P17 wd:Q183 }",
		"SELECT ?m WHERE { ?m wdt:P106 wd:Q36180 ; wdt:P27 wd:Q142 }",
		"SELECT ?x WHERE { ?x wdt:P50 wd:Q42 }",
		"SELECT ?x WHERE { ?x wdt:P57 wd:Q55400 }",
	}
	cs, golds := many(len(queries))
	for i, text := range queries {
		q, err := sparql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		cs[i].Cleaned, cs[i].Pattern, cs[i].Properties, golds[i].Query = text, measure.Shape(q),
			sparql.IDs(sparql.Identifiers(q), true), text
	}
	near := func(i, j int, similarity float64) {
		cs[i].Near = append(cs[i].Near, dataset.Near{ID: cs[j].ID, Source: release.NearCandidates,
			Similarity: similarity})
	}
	near(0, 1, 1)
	near(0, 2, 0.9) // the harvest's rule: the same pattern with different IDs
	near(3, 4, 0.9)
	near(3, 5, 0.9)
	near(6, 7, 0.9)
	for kind, want := range map[release.Nearness]string{
		release.NearSame: "01 2 3 4 5 6 7", release.NearText: "012 3 4 5 6 7", release.NearTemplate: "012 34 5 6 7",
		release.NearPattern: "012 345 67",
	} {
		together := make([][]bool, len(cs))
		for i := range together {
			together[i] = make([]bool, len(cs))
			for j := range together[i] {
				together[i][j] = true
			}
		}
		var clusters int
		for seed := range uint64(64) { // items that 64 draws never separate are connected
			s, _ := release.Divide(cs, golds, release.Part{Share: 0.5}, kind, seed)
			dev := ids(s.Dev)
			for i := range cs {
				for j := range cs {
					together[i][j] = together[i][j] && dev[cs[i].ID] == dev[cs[j].ID]
				}
			}
			clusters = s.Clusters
		}
		var got []string
		for i := range cs {
			if slices.Index(together[i], true) == i {
				name := ""
				for j := range cs {
					if together[i][j] {
						name += fmt.Sprint(j)
					}
				}
				got = append(got, name)
			}
		}
		if s := strings.Join(got, " "); s != want || clusters != len(got) {
			t.Errorf("%s ties %s in %d clusters, want %s", kind, s, clusters, want)
		}
	}
	// If a later round keeps an item older than the rest of its cluster, no item moves.
	for seed := range uint64(64) {
		some, _ := release.Divide(cs, golds[1:], release.Part{Share: 0.5}, release.NearTemplate, seed)
		more, _ := release.Divide(cs, golds, release.Part{Share: 0.5}, release.NearTemplate, seed)
		for id := range ids(some.Dev) {
			if !ids(more.Dev)[id] {
				t.Fatalf("seed %d: %s moved when an older one was kept", seed, id)
			}
		}
	}
}

func TestDivide(t *testing.T) {
	cs, golds := many(120)
	// A chain through a candidate that nobody kept connects three items; two have the same query in different
	// layouts.
	cs[10].Near = []dataset.Near{{ID: cs[20].ID, Source: "candidates"}}
	cs[20].Near = []dataset.Near{{ID: cs[30].ID, Source: "candidates"}}
	cs[40].Near = []dataset.Near{{ID: cs[41].ID, Source: "dev.json"}} // from a different benchmark, so it connects nothing
	golds[50].Query = "SELECT ?x\nWHERE { ?x wdt:P31 wd:Q61 . }"
	golds[60].Query = "select ?x where {?x wdt:P31 wd:Q61}"
	kept := append(append([]release.Gold{}, golds[:20]...), golds[21:]...)
	dev, test := divide(cs, kept, release.Part{Share: 0.4}, 7)
	if len(dev)+len(test) != 119 || len(dev) < 30 || len(dev) > 66 {
		t.Fatalf("%d and %d of 119", len(dev), len(test))
	}
	d := ids(dev)
	if d[cs[10].ID] != d[cs[30].ID] || d[cs[50].ID] != d[cs[60].ID] {
		t.Error("near-duplicates are in different parts")
	}

	// The order does not matter, but the seed does.
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	again, _ := divide(cs, kept, release.Part{Share: 0.4}, 7)
	other, _ := divide(cs, kept, release.Part{Share: 0.4}, 8)
	if fmt.Sprint(ids(again)) != fmt.Sprint(d) || fmt.Sprint(ids(other)) == fmt.Sprint(d) {
		t.Error("the split depends on the order, or not on the seed")
	}

	// Later harvests do not move any items.
	more, moreGolds := many(160)
	copy(more, cs)
	grown, _ := divide(more, append(moreGolds[120:], kept...), release.Part{Share: 0.4}, 7)
	g := ids(grown)
	for _, k := range kept {
		if id := k.Candidate.ID; g[id] != d[id] {
			t.Errorf("%s moved when items were added", id)
		}
	}

	// A requested size is met exactly unless a cluster prevents it, and never exceeded.
	if dev, test := divide(cs, golds[100:], release.Part{N: 7}, 7); len(dev) != 7 || len(test) != 13 {
		t.Errorf("7 of 20 items result in parts of %d and %d", len(dev), len(test))
	}
	for _, part := range []release.Part{{N: 50}, {N: 20}, {Share: 0}, {Share: 1}} {
		if s, err := release.Divide(cs, golds[100:], part, release.NearTemplate, 7); err == nil {
			t.Errorf("%+v of 20 items is not refused: %d and %d", part, len(s.Dev), len(s.Test))
		}
	}
	// The split is determined only by the seed and the IDs. This must never change, since published splits must stay the
	// same.
	ten, tenGolds := many(10)
	dev, _ = divide(ten, tenGolds, release.Part{Share: 0.5}, 1)
	var got []string
	for i := range ten {
		if ids(dev)[ten[i].ID] {
			got = append(got, fmt.Sprint(i))
		}
	}
	if s := strings.Join(got, " "); s != wantDev {
		t.Errorf("dev of seed 1 is %q, was %q: published splits would change", s, wantDev)
	}
}

// wantDev was computed by a separate program in a different language, from the description of the draw: FNV-1a over
// the seed and the ID, then MurmurHash3's finalizer.
const wantDev = "2 3 4 5 6"

type fake map[string]any

func (f fake) Query(_ context.Context, q string) (*kg.Table, error) {
	switch x := f[q].(type) {
	case *kg.Table:
		return x, nil
	case error:
		return nil, x
	}
	return nil, kg.Errorf(kg.Down, "no such query")
}

func TestVerify(t *testing.T) {
	dir, _, golds, g := harvested(t)
	changed, err := g.Query(t.Context(), golds[3].Query)
	if err != nil {
		t.Fatal(err)
	}
	if err := release.Keep(dir, golds[3].Query, changed); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Unix(0, 0) }
	verify := func(graph release.Graph) (string, release.Summary, error) {
		var out []string
		var sum release.Summary
		err := release.Verify(t.Context(), graph, now, release.Checks(dir, golds), func(d release.Drift) error {
			sum.Add(d)
			stored := -1
			if d.StoredRows != nil {
				stored = *d.StoredRows
			}
			out = append(out, fmt.Sprintf("%s %d/%d +%d-%d", d.Status, d.Rows, stored, d.Added, d.Removed))
			return nil
		})
		return strings.Join(out, "; "), sum, err
	}
	got, sum, err := verify(g)
	if err != nil || !sum.OK() || sum.Status[release.Same] != 10 {
		t.Fatalf("on the same graph: %s %v", got, err)
	}

	// Since the release, the graph has changed.
	world := fake{}
	for i := range golds {
		table, err := g.Query(t.Context(), golds[i].Query)
		if err != nil {
			t.Fatal(err)
		}
		world[golds[i].Query] = table
	}
	part := *world[golds[0].Query].(*kg.Table)
	part.Rows = append(part.Rows[2:len(part.Rows):len(part.Rows)], part.Rows[3])
	world[golds[0].Query] = &part
	world[golds[1].Query] = &kg.Table{Vars: []string{"mountain"}}
	world[golds[2].Query] = kg.Errorf(kg.Timeout, "60 s are over")
	golds[4].Query = "SELECT ?new WHERE { ?new wdt:P31 wd:Q5 }"
	world[golds[4].Query] = &kg.Table{Vars: []string{"new"}, Rows: part.Rows[:1]}
	golds[5].Query = "SELECT (broken"
	got, sum, err = verify(world)
	want := "changed 16/17 +1-2; empty 0/1 +0-1; failed 0/7 +0-0; same 12/12 +0-0; ran 1/-1 +0-0; failed 0/-1 +0-0; same 6/6 +0-0; same 6/6 +0-0; same 2/2 +0-0; same 1/1 +0-0"
	if err != nil || got != want {
		t.Errorf("drift:\n%s\nwant\n%s\n%v", got, want, err)
	}
	if sum.OK() || sum.Errors["timeout"] != 1 || sum.Errors["syntax"] != 1 || sum.Status[release.Empty] != 1 {
		t.Errorf("sum: %+v", sum)
	}

	// A graph that is down is not drift.
	delete(world, golds[6].Query)
	if got, sum, err := verify(world); kg.KindOf(err) != kg.Down || sum.Items != 6 {
		t.Errorf("a graph that is down: %s %v", got, err)
	}
	stop := errors.New("stop")
	if err := release.Verify(t.Context(), g, now, release.Checks(dir, golds),
		func(release.Drift) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the report: %v", err)
	}
}

func TestVerifyFile(t *testing.T) {
	in := `{"dataset":{"id":"x"},"questions":[
{"id":"1","question":[{"language":"en","string":"a?"}],"query":{"sparql":"ASK { }"},"answers":[{"head":{},"boolean":true}]},
{"id":"2","question":[{"language":"en","string":"b?"}],"query":{"sparql":"SELECT ?b ?a WHERE { }"},"answers":[{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"literal","value":"1"},"b":{"type":"bnode","value":"x"}}]}}]},
{"id":"3","question":[{"language":"en","string":"c?"}],"query":{"sparql":"SELECT * WHERE { }"}}]}`
	items, _, err := dataset.ReadItems(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	two := new(kg.Table)
	if err := two.UnmarshalJSON([]byte(`{"head":{"vars":["b","a"]},"results":{"bindings":[{"a":{"type":"literal","value":"1"},"b":{"type":"bnode","value":"y"}}]}}`)); err != nil {
		t.Fatal(err)
	}
	world := fake{"ASK { }": &kg.Table{Ask: true}, "SELECT ?b ?a WHERE { }": two, "SELECT * WHERE { }": &kg.Table{}}
	var got []string
	err = release.Verify(t.Context(), world, time.Now, release.ItemChecks(items), func(d release.Drift) error {
		got = append(got, fmt.Sprintf("%s %s +%d-%d", d.ID, d.Status, d.Added, d.Removed))
		return nil
	})
	if s := strings.Join(got, "; "); err != nil || s != "1 changed +1-1; 2 same +0-0; 3 empty +0-0" {
		t.Errorf("%s %v", s, err)
	}
}

func TestKeep(t *testing.T) {
	dir, _, golds, _ := harvested(t)
	g := golds[3]
	if table, err := release.Stored(dir, &g); err != nil || table != nil {
		t.Errorf("a changed query has a result before it was run: %v %v", table, err)
	}
	table := &kg.Table{Ask: true, Boolean: true}
	if err := release.Keep(dir, g.Query, table); err != nil {
		t.Fatal(err)
	}
	g.Query = strings.ReplaceAll(g.Query, "\n", "\n\n") // the layout does not matter
	if back, err := release.Stored(dir, &g); err != nil || back == nil || !back.Boolean {
		t.Errorf("kept: %v %v", back, err)
	}
}

func TestCard(t *testing.T) {
	dir, candidates, golds, _ := harvested(t)
	funnel, err := dataset.ReadFunnel(dir)
	if err != nil {
		t.Fatal(err)
	}
	candidates[0].Provenance.Heading = "A [trap](https://evil.example) <img src=x> *bold*\n# no heading"
	candidates[1].Provenance.Permalink = "https://www.wikidata.org/w/index.php?oldid=1)#[x](https://evil.example"
	candidates[2].Provenance.Permalink = "javascript:alert(1)"
	candidates[3].Near = []dataset.Near{{ID: "7", Source: "qald|10.json", Similarity: 0.85},
		{ID: "9", Source: "qald|10.json", Similarity: 1}, {ID: "c-gone", Source: release.NearCandidates, Similarity: 1}}
	candidates[4].Near = []dataset.Near{{ID: "7", Source: "qald|10.json", Similarity: 0.9}}
	var b bytes.Buffer
	err = release.Card(&b, &release.Description{Name: "Bench", Made: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		Funnel: &funnel, Candidates: candidates, Golds: golds, Annotators: 2, Agreement: []string{"Pair 1: kappa 0.42"},
		Statistics: "clauses ``` 7"})
	card := b.String()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"license: cc-by-sa-4.0", "CC BY-SA 4.0", "10 questions", "(1 of 10)",
		"9 of 10 items were validated", "| in the archive | 14 |", "| kept by annotators | 10 |", "2018 to 2023",
		"kappa 0.42", `| qald\|10.json | 2 | 1 |`, "Near others of this benchmark: 1 of 10 items",
		`A \[trap\]\(https://evil.example\) \<img src=x\> \*bold\* \# no heading`,
		"oldid=1%29#[x]%28https://evil.example", "by Ada Example, Helpful Helen",
		"[Egypt or Germany?](https://www.wikidata.org/w/index.php?oldid=1008#9)"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q", want)
		}
	}
	if strings.Contains(card, "javascript:") || strings.Count(card, "```") != 2 {
		t.Error("a text can break out of its place in the card")
	}
}

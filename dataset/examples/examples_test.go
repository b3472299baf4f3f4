package examples

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

func item(id, question, query string) dataset.Item {
	return dataset.Item{ID: id, Question: question, SPARQL: query}
}

func pool() *Pool {
	p := &Pool{}
	p.Add("rivers.json", []dataset.Item{
		item("a-rivers", "Which rivers flow into Lake Geneva?", "SELECT ?r WHERE { ?r wdt:P403 wd:Q6420 . }"),
		item("b-mayor", "Who is the mayor of Berlin?", "SELECT ?m WHERE { wd:Q64 wdt:P6 ?m . }"),
		item("c-long", "What is the longest river of Europe?",
			"SELECT ?r WHERE { ?r wdt:P31 wd:Q4022 ; wdt:P2043 ?l . } ORDER BY DESC(?l) LIMIT 1"),
		item("d-maire", "Qui est le maire de Genève ?", "SELECT ?m WHERE { wd:Q71 wdt:P6 ?m . }"),
		item("e-again", "Name the mayor of Berlin.", "SELECT ?m WHERE { wd:Q64 wdt:P6 ?m . }"),
		item("f-none", "A question without a query", ""),
	})
	return p
}

func ids(xs []event.Example) string {
	var out []string
	for _, x := range xs {
		out = append(out, x.ID)
	}
	return strings.Join(out, " ")
}

func find(t *testing.T, p *Pool, q event.ExampleQuery) []event.Example {
	t.Helper()
	got, err := p.FindExamples(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFindByWords(t *testing.T) {
	p := pool()
	if p.Len() != 5 {
		t.Errorf("%d examples; an item without a query is not an example", p.Len())
	}
	for _, c := range []struct{ text, want string }{
		{"List a river that flows into Lake Constance", "a-rivers c-long"}, // different forms of a word match
		{"GENEVE: maire?", "d-maire"},                                      // case and accents are ignored
		{"who is the mayor of Berlin", "b-mayor"},                          // a query is shown only once
		{"xyzzy", ""},
	} {
		got := find(t, p, event.ExampleQuery{Text: c.text, Limit: 2})
		if !strings.HasPrefix(ids(got), c.want) || c.want == "" && len(got) > 0 {
			t.Errorf("%q: %s, want %s first", c.text, ids(got), c.want)
		}
		for _, x := range got {
			if x.Score <= 0 || x.Score > 1 || x.Source != "rivers.json" || x.SPARQL == "" || x.Question == "" {
				t.Errorf("%q: %+v", c.text, x)
			}
		}
	}
	all := ids(find(t, p, event.ExampleQuery{Text: "mayor river", Limit: 9}))
	if paged := ids(find(t, p, event.ExampleQuery{Text: "mayor river", Limit: 9, Offset: 1})); !strings.HasSuffix(all,
		" "+paged) {
		t.Errorf("all %q, from the second %q", all, paged)
	}
}

func TestAnyExamples(t *testing.T) {
	p := pool()
	one, again := find(t, p, event.ExampleQuery{Seed: 7, Limit: 9}), find(t, p, event.ExampleQuery{Seed: 7, Limit: 9})
	if len(one) != 4 || ids(one) != ids(again) {
		t.Errorf("seed 7: %s, then %s", ids(one), ids(again))
	}
	firsts := map[string]bool{}
	for seed := range uint64(40) {
		firsts[ids(find(t, p, event.ExampleQuery{Seed: seed, Limit: 1}))] = true
	}
	if len(firsts) < 4 {
		t.Errorf("forty seeds began only with %v", firsts)
	}
}

func TestCandidates(t *testing.T) {
	c := dataset.Candidate{ID: "c-1", Stage: dataset.Staged, Result: &dataset.Result{Rows: 3},
		Cleaned:  "SELECT ?x WHERE { ?x wdt:P31 wd:Q34442 . }",
		Entities: []string{"Q34442"}, Labels: map[string]string{"Q34442": "road"}}
	c.Conversation.Comments = []dataset.Comment{{Text: "Streets of Leiden with their namesakes"}}
	c.Provenance = dataset.Provenance{Page: "Archive/2020/01", Heading: "Leiden", Month: "2020-01",
		URL: "https://w/Archive/2020/01"}
	p := &Pool{}
	p.AddCandidate("archive", &c)
	empty := c
	empty.Result = &dataset.Result{}
	p.AddCandidate("archive", &empty)
	got := find(t, p, event.ExampleQuery{Text: "roads named after people", Limit: 3})
	if len(got) != 1 || got[0].Page != "Archive/2020/01" || got[0].Month.Year() != 2020 || got[0].Heading != "Leiden" {
		t.Fatalf("%+v", got)
	}
	it := dataset.Item{ID: "x1", Title: "leiden", URL: "https://w/Archive/2020/01", Question: "Other words",
		SPARQL: "ASK {}"}
	if left, gone := p.Without(Hold([]dataset.Item{it})); left.Len() != 0 || gone[SamePlace] != 1 {
		t.Errorf("the discussion that an item was made from is left: %v", gone)
	}
}

// letters is a simple embedder that counts the occurrences of each letter.
type letters struct {
	calls int
	err   error
}

func (l *letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	l.calls++
	if l.err != nil {
		return nil, l.err
	}
	out := make([][]float32, len(texts))
	for i, s := range texts {
		out[i] = make([]float32, 26)
		for _, r := range strings.ToLower(s) {
			if r >= 'a' && r <= 'z' {
				out[i][r-'a']++
			}
		}
	}
	return out, nil
}

func TestFindByMeaning(t *testing.T) {
	p, e := pool(), &letters{}
	p.ByMeaning(slog.New(slog.DiscardHandler), e)
	got := find(t, p, event.ExampleQuery{Text: "Which river flows into the lake of Geneva", Limit: 2})
	if len(got) != 2 || got[0].ID != "a-rivers" || got[0].Score < got[1].Score || got[0].Score < 0.9 {
		t.Errorf("%+v", got)
	}
	find(t, p, event.ExampleQuery{Text: "again", Limit: 2})
	if e.calls != 3 {
		t.Errorf("%d calls; the examples' vectors must be made only once", e.calls)
	}
	var said strings.Builder
	p = pool()
	down := &letters{err: errors.New("down")}
	p.ByMeaning(slog.New(slog.NewTextHandler(&said, nil)), down)
	for range 2 {
		if got := find(t, p, event.ExampleQuery{Text: "who is the mayor of Berlin", Limit: 1}); ids(got) != "b-mayor" {
			t.Errorf("without the model: %s", ids(got))
		}
	}
	if down.calls != 1 || strings.Count(said.String(), "ranked by words") != 1 {
		t.Errorf("a model that is down was asked %d times; log:\n%s", down.calls, said.String())
	}
	p = pool()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.ByMeaning(slog.New(slog.DiscardHandler), &letters{err: context.Canceled})
	if _, err := p.FindExamples(ctx, event.ExampleQuery{Text: "x", Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// kept is an in-memory vector store.
type kept struct {
	vectors map[string][]float32
	err     error
}

func (k *kept) Vectors(_ context.Context, model string, texts []string) (map[string][]float32, error) {
	out := map[string][]float32{}
	for _, t := range texts {
		if v := k.vectors[model+" "+t]; v != nil {
			out[t] = v
		}
	}
	return out, k.err
}

func (k *kept) KeepVectors(_ context.Context, model string, vectors map[string][]float32) error {
	for t, v := range vectors {
		k.vectors[model+" "+t] = v
	}
	return k.err
}

// TestKept checks that a second pool with the same questions embeds only new texts, that a different model's vectors
// are stored separately, and that a pool works even if the store fails.
func TestKept(t *testing.T) {
	store := &kept{vectors: map[string][]float32{}}
	want := event.ExampleQuery{Text: "Which river flows into the lake of Geneva", Limit: 2}
	for i, tt := range []struct {
		model string
		text  string
		err   error
		calls int
	}{{"a", want.Text, nil, 2}, {"a", want.Text, nil, 0}, {"a", "Which river flows into lake Geneva", nil, 1}, {"b", want.Text, nil, 2},
		{"a", want.Text, errors.New("disk full"), 2}} {
		store.err = tt.err
		p, e := pool(), &letters{}
		p.ByMeaning(slog.New(slog.DiscardHandler), &Kept{Embedder: e, Model: tt.model, Vectors: store,
			Log: slog.New(slog.DiscardHandler)})
		want.Text = tt.text
		if got := find(t, p, want); len(got) == 0 || got[0].ID != "a-rivers" || e.calls != tt.calls {
			t.Errorf("%d: found %s with %d calls to the model, want %d", i, ids(got), e.calls, tt.calls)
		}
	}
}

// disguise changes an item but preserves either its question or its query.
func disguise(r *rand.Rand, it dataset.Item) (dataset.Item, Reason) {
	out := dataset.Item{ID: fmt.Sprintf("other-%d", r.Uint64()),
		Question: fmt.Sprintf("Something else altogether, number %d", r.Uint64()),
		SPARQL:   fmt.Sprintf("SELECT ?z WHERE { ?z wdt:P%d wd:Q%d }", 1+r.IntN(9000), 1+r.IntN(1e8))}
	switch r.IntN(6) {
	case 0:
		out.ID = strings.ToUpper(it.ID)
		return out, SameID
	case 1:
		out.Question = strings.Map(func(c rune) rune {
			if r.IntN(2) == 0 {
				return unicode.ToUpper(c)
			}
			return c
		}, strings.TrimRight(it.Question, "?")) + " …"
		return out, SameWords
	case 2:
		out.Paraphrases = []string{"  " + strings.ReplaceAll(it.Question, " ", "\n ")}
		return out, SameWords
	case 3:
		out.SPARQL = "# a comment\n" + strings.NewReplacer("?r", "?river", "SELECT", "select", "{", "{\n\t", "WHERE ",
			"").Replace(it.SPARQL)
		return out, SameQuery
	case 4:
		out.SPARQL = "PREFIX wdt: <http://www.wikidata.org/prop/direct/>\nPREFIX wd: <http://www.wikidata.org/entity/>\n" +
			it.SPARQL
		return out, SameQuery
	}
	words := strings.Fields(it.Question)
	out.Question = strings.Join(append([]string{words[len(words)-1]}, words[:len(words)-1]...), " ")
	return out, LikeWords
}

// A query is held back regardless of its length and the order of its parts. A query with a different meaning is not
// held back.
func TestSameQueryInAnotherOrder(t *testing.T) {
	h := Hold([]dataset.Item{item("", "", "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . ?x wdt:P106 ?job . ?job wdt:P279 wd:Q901 . }")})
	p := &Pool{}
	p.Add("f", []dataset.Item{
		item("same", "one", "SELECT ?a { ?b wdt:P279 wd:Q901 . ?a wdt:P106 ?b ; wdt:P31 wd:Q5 }"),
		item("bnode", "two", "PREFIX e: <http://www.wikidata.org/entity/> SELECT ?a { ?a wdt:P106 [ wdt:P279 e:Q901 ] ; wdt:P31 e:Q5 }"),
		item("other", "three", "SELECT ?job { ?job wdt:P279 wd:Q901 . ?x wdt:P31 wd:Q5 ; wdt:P106 ?job }"),
	})
	left, gone := p.Without(h)
	if left.Len() != 1 || left.docs[0].ID != "other" || gone[SameQuery] != 2 {
		t.Errorf("%d left, %v", left.Len(), gone)
	}
}

// An item in the benchmark being run is never found, however it is disguised. Items that merely resemble a benchmark
// item are found.
func TestNeverTheSetBeingRun(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var items, shown []dataset.Item
		for i := range 8 {
			items = append(items, item(fmt.Sprintf("item-%d-%d-x", n, i),
				fmt.Sprintf("Which rivers of region %d are longer than those of country %d and when were they mapped?",
					r.IntN(1e6), r.IntN(1e6)),
				fmt.Sprintf("SELECT ?r WHERE { ?r wdt:P31 wd:Q%d ; wdt:P17 wd:Q%d ; wdt:P2043 ?l . FILTER(?l > %d) }",
					1+r.IntN(1e6), 1+r.IntN(1e6), r.IntN(100))))
		}
		p := &Pool{}
		want := map[Reason]int{}
		for _, it := range items {
			d, why := disguise(r, it)
			shown = append(shown, d)
			want[why]++
		}
		like := item(fmt.Sprint("free-", n), "Which rivers are in this region?",
			"SELECT ?r WHERE { ?r wdt:P31 wd:Q4022 ; wdt:P17 wd:Q183 ; wdt:P2043 ?l . FILTER(?l > 5) }")
		p.Add("pool", append(shown, like))
		left, gone := p.Without(Hold(items))
		if left.Len() != 1 || fmt.Sprint(gone) != fmt.Sprint(want) {
			t.Fatalf("round %d: %d left, held back %v, want 1 and %v", n, left.Len(), gone, want)
		}
		if got := find(t, left, event.ExampleQuery{Text: items[0].Question, Limit: 10}); ids(got) != like.ID {
			t.Fatalf("round %d: %s", n, ids(got))
		}
	}
}

func TestGenericIDs(t *testing.T) {
	for id, want := range map[string]string{"17": "", "test_4": "", "dev-12": "", "": "", " TRAIN_1 ": "",
		"WebQTest-12": "webqtest-12", "c-00ff": "c-00ff"} {
		if got := foldID(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := write("train.jsonl", `{"id":"a","question":"Who is the mayor of Berlin?","sparql":"SELECT ?m WHERE { wd:Q64 wdt:P6 ?m }"}`+"\n")
	p := &Pool{}
	if err := p.Read(lines); err != nil || p.Len() != 1 || p.Sources()[0] != "train.jsonl (1)" {
		t.Errorf("%v, %v", p.Sources(), err)
	}
	for _, bad := range []string{filepath.Join(dir, "absent"), dir, write("broken.json", `[{"id":`),
		write("empty.json", `[{"id":"x","question":"Q?","sparql":""}]`)} {
		if err := p.Read(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	harvested := `{"schema":1,"id":"c-00112233445566aa","stage":"staged","cleaned":"SELECT ?m WHERE { wd:Q64 wdt:P6 ?m }","result":{"rows":1},"conversation":{"comments":[{"text":"mayors pls"}]}}`
	write(dataset.CandidatesFile, harvested+"\n"+strings.Replace(harvested, "66aa", "66bb", 1)+"\n")
	p = &Pool{}
	if err := p.Harvest(dir, []dataset.Item{item("c-00112233445566aa", "Who is the mayor of Berlin?",
		"SELECT ?m WHERE { wd:Q64 wdt:P6 ?m }")}); err != nil || p.Len() != 2 {
		t.Errorf("%d, %v", p.Len(), err)
	}
	if err := p.Read(dir); err != nil || p.Len() != 4 {
		t.Errorf("%d, %v", p.Len(), err)
	}
	if err := p.Harvest(t.TempDir(), nil); err != nil {
		t.Errorf("no harvest yet: %v", err)
	}
}

// TestBroken checks that an item whose query cannot be parsed does not become an example, but that prefixes from other
// graphs are allowed.
func TestBroken(t *testing.T) {
	p := &Pool{}
	p.Add("x.json", []dataset.Item{item("good", "One?", "SELECT ?x WHERE { ?x dbo:a dbr:B . }"),
		item("half", "Two?", "SELECT ?x WHERE { ?x wdt:P31 "), item("text", "Three?", "I do not know: nothing"),
		item("none", "Four?", "")})
	if got := strings.Join(p.Broken(), " "); got != "half text" || p.Len() != 1 {
		t.Errorf("left out: %s; %d left", got, p.Len())
	}
}

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// turnModel answers with whole turns: each is lines "tool {arguments}", or a text without a call. It keeps what it was
// asked.
type turnModel struct {
	turns    []string
	requests []llm.Request
	noTools  bool
}

func (m *turnModel) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if m.noTools && len(req.Tools) > 0 {
		return nil, llm.ErrNoTools
	}
	m.requests = append(m.requests, req)
	if len(m.turns) == 0 {
		return nil, llm.ErrNoModel
	}
	turn := m.turns[0]
	m.turns = m.turns[1:]
	c := llm.Choice{Content: "I go on.", FinishReason: "tool_calls"}
	for i, line := range strings.Split(turn, "\n") {
		name, args, ok := strings.Cut(line, " {")
		switch {
		case ok && m.noTools:
			c.Content = "Thought: I go on.\nAction: " + name + "({" + args + ")"
		case ok:
			c.ToolCalls = append(c.ToolCalls, llm.ToolCall{ID: fmt.Sprintf("c%d_%d", len(m.requests), i), Name: name,
				Arguments: "{" + args})
		default:
			c.Content = line
		}
	}
	return &llm.Response{Choices: []llm.Choice{c}, Usage: llm.Usage{Calls: 1}}, nil
}

// peaks is a small graph: two mountains in a country, one of them without a height.
const peaks = `@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> . @prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> . @prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> .
wd:Q40 rdfs:label "Tarland"@en ; schema:description "country"@en ; wdt:P36 wd:Q41 .
wd:Q41 rdfs:label "Tarburg"@en ; wdt:P17 wd:Q40 .
wd:Q8502 rdfs:label "mountain"@en .
wd:Q51 rdfs:label "High Tar"@en ; wdt:P31 wd:Q8502 ; wdt:P17 wd:Q40 ; wdt:P2044 1200 .
wd:Q52 rdfs:label "Low Tar"@en ; wdt:P31 wd:Q8502 ; wdt:P17 wd:Q40 .
wd:P31 a wikibase:Property ; rdfs:label "instance of"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P17 a wikibase:Property ; rdfs:label "country"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P36 a wikibase:Property ; rdfs:label "capital"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P2044 a wikibase:Property ; rdfs:label "elevation"@en ; wikibase:propertyType wikibase:Quantity .
`

func peaksGraph(t *testing.T) Sources {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(peaks)); err != nil {
		t.Fatal(err)
	}
	return Wikibase(b.Graph(embedded.Options{Name: "test"}))
}

// best is the preset best without probes, which have their own tests.
func best(t *testing.T) *preset.Preset {
	t.Helper()
	p, err := preset.Named("best")
	if err != nil {
		t.Fatal(err)
	}
	p.Probe.Queries, p.Probe.Seconds = 0, 0
	return p
}

func askBest(t *testing.T, m *turnModel, question string) (*Outcome, *memory) {
	t.Helper()
	rec := &memory{}
	out, err := with(m, peaksGraph(t), best(t)).Ask(t.Context(), Question{Text: question}, rec, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return out, rec
}

const (
	capital  = `query {"sparql": "SELECT ?city WHERE { wd:Q40 wdt:P36 ?city }", "returns": "the capital: ?city"}`
	heights  = `query {"sparql": "SELECT ?m ?mLabel ?h WHERE { ?m wdt:P31 wd:Q8502 ; rdfs:label ?mLabel . OPTIONAL { ?m wdt:P2044 ?h } }", "returns": "a mountain: ?m"}`
	finished = `finish {"step": 2, "columns": ["city"], "answer": "Tarburg."}`
)

// TestBestTwoCalls: an easy question takes two calls. What the question names is there at the first, and no call is made
// for the language or the report.
func TestBestTwoCalls(t *testing.T) {
	m := &turnModel{turns: []string{capital, finished}}
	out, _ := askBest(t, m, "What is the capital of Tarland?")
	if out.Answer == nil || len(m.requests) != 2 || out.Report != "Tarburg." || out.Language != "en" {
		t.Fatalf("%+v after %d calls", out, len(m.requests))
	}
	if d := cmp.Diff([]string{"city"}, out.Answer.Columns); d != "" {
		t.Error(d)
	}
	first := m.requests[0].Messages[len(m.requests[0].Messages)-1].Content
	says(t, first, "[step 1]", "Tarland (Q40), country", "P36 capital: Tarburg (Q41)")
	says(t, m.requests[1].Messages[len(m.requests[1].Messages)-1].Content, "[step 2] 1 row", "Tarburg (Q41)")
	if strings.Contains(m.requests[1].Messages[len(m.requests[1].Messages)-1].Content, "nothing has shown you") {
		t.Error("IDs that were shown beforehand count as unseen")
	}
}

// TestBestLanguage: the language is guessed from the question's words.
func TestBestLanguage(t *testing.T) {
	m := &turnModel{turns: []string{capital, finished}}
	out, _ := askBest(t, m, "Wie heißt die Hauptstadt von Tarland, und welche Berge gibt es in diesem Land?")
	if out.Language != "de" {
		t.Errorf("the language is %q", out.Language)
	}
}

// TestBestParallel: several calls of a turn are carried out, in one turn of the conversation.
func TestBestParallel(t *testing.T) {
	m := &turnModel{turns: []string{capital + "\n" + `find {"names": ["High Tar", "Nowhere"]}` + "\n" + `look {"ids": ["Q51"]}`,
		finished}}
	out, _ := askBest(t, m, "What is the capital of Tarland?")
	if out.Answer == nil || len(m.requests) != 2 || len(out.Steps) != 5 {
		t.Fatalf("%+v", out)
	}
	ms := m.requests[1].Messages
	says(t, ms[len(ms)-2].Content, "High Tar (Q51)", `"Nowhere": nothing found`)
	says(t, ms[len(ms)-1].Content, "High Tar (Q51)", "elevation (P2044): 1200", "country (P17): Tarland (Q40)")
	if calls := ms[len(ms)-4].ToolCalls; len(calls) != 3 {
		t.Errorf("%d calls are in the turn", len(calls))
	}
}

// TestBestShape: an end whose columns are not there is handed back each time; one with other columns than announced, or
// with a name in place of an item, once.
func TestBestShape(t *testing.T) {
	names := `query {"sparql": "SELECT ?mLabel WHERE { ?m wdt:P31 wd:Q8502 ; rdfs:label ?mLabel }"}`
	for _, tt := range []struct {
		name    string
		turns   []string
		want    string
		columns []string
	}{
		{"unknown column", []string{heights, `finish {"columns": ["x"], "answer": "A."}`,
			`finish {"columns": ["x"], "answer": "A."}`, `finish {"columns": ["m"], "answer": "A."}`},
			"The query has no column ?x; its columns are ?m, ?mLabel, ?h.", []string{"m"}},
		{"more than announced", []string{heights, `finish {"columns": ["m", "h"], "answer": "A."}`,
			`finish {"columns": ["m", "h"], "answer": "A."}`}, "You announced the columns ?m, and the answer has ?m, ?h",
			[]string{"m", "h"}},
		{"a label beside its item is no answer", []string{heights, `finish {"columns": ["m", "mLabel"], "answer": "A."}`}, "",
			[]string{"m"}},
		{"names only", []string{names, `finish {"columns": ["mLabel"], "answer": "A."}`,
			`finish {"columns": ["mLabel"], "answer": "A."}`}, "?mLabel is a name: the answer is the item, so select ?m.",
			[]string{"mLabel"}},
		{"in the turn of the query", []string{heights + "\n" + `finish {"columns": ["m"], "answer": "A."}`,
			`finish {"columns": ["m"], "answer": "A."}`}, "you have not seen the result of step 2 yet", []string{"m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &turnModel{turns: tt.turns}
			out, _ := askBest(t, m, "Which mountains are there?")
			if out.Answer == nil || len(m.turns) != 0 {
				t.Fatalf("%+v, %d turns are left", out, len(m.turns))
			}
			if d := cmp.Diff(tt.columns, out.Answer.Columns); d != "" {
				t.Error(d)
			}
			if last := m.requests[len(m.requests)-1].Messages; tt.want != "" {
				if !slices.ContainsFunc(last, func(x llm.Message) bool { return strings.Contains(x.Content, tt.want) }) {
					t.Errorf("nothing says %q", tt.want)
				}
			}
		})
	}
}

// TestBestNumber: a question for a number whose answer has none is asked about once.
func TestBestNumber(t *testing.T) {
	m := &turnModel{turns: []string{heights, `finish {"columns": ["m"], "answer": "Two."}`,
		`query {"sparql": "SELECT (COUNT(DISTINCT ?m) AS ?n) WHERE { ?m wdt:P31 wd:Q8502 }"}`,
		`finish {"columns": ["n"], "answer": "Two."}`}}
	out, _ := askBest(t, m, "How many mountains are there?")
	if out.Answer == nil || out.Answer.Table.Rows[0][0].Value != "2" {
		t.Fatalf("%+v", out)
	}
}

// TestBestAnswers: the answer columns make the form that benchmarks compare, each row once.
func TestBestAnswers(t *testing.T) {
	m := &turnModel{turns: []string{`query {"sparql": "SELECT ?country ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 ?country }"}`,
		`finish {"columns": ["country"], "answer": "Tarland.", "assumed": "Any mountain.", "open": "Heights are missing."}`}}
	out, rec := askBest(t, m, "Which countries have mountains?")
	if out.Answer == nil || len(out.Answer.Table.Rows) != 2 || len(out.Answer.Table.Vars) != 2 {
		t.Fatalf("%+v", out)
	}
	if out.Report != "Tarland. Any mountain. Heights are missing." {
		t.Errorf("the report is %q", out.Report)
	}
	got := out.Answer.Answers()
	if d := cmp.Diff([]string{"country"}, got.Vars); d != "" || len(got.Rows) != 1 {
		t.Errorf("%s %v", d, got.Rows)
	}
	for _, e := range rec.events {
		if e.Event == "final" && (e.Assumed != "Any mountain." || e.Open != "Heights are missing." || len(e.Columns) != 1) {
			t.Errorf("%+v", e)
		}
	}
}

// TestBestNoAnswer: the honest end is taken at once, also where a query returned something.
func TestBestNoAnswer(t *testing.T) {
	m := &turnModel{turns: []string{capital, `finish {"no_answer": true, "answer": "The graph has no rivers."}`}}
	out, _ := askBest(t, m, "Which rivers are there?")
	if out.Answer != nil || out.Reason != NotFound || out.Detail != "The graph has no rivers." || len(m.requests) != 2 {
		t.Fatalf("%+v", out)
	}
}

// TestBestAppendOnly: each request begins with the whole one before it, so that a provider's cache of it holds, also
// after turns without a call, calls that cannot be read, repetitions, refused ends and the word that few steps are left.
func TestBestAppendOnly(t *testing.T) {
	m := &turnModel{turns: []string{"Let me think.", capital + "\n" + `nosuch {}`, capital, `find {}`,
		`finish {"columns": ["x"], "answer": "A."}`, `look {"ids": ["Q51"]}` + "\n" + `look {"ids": ["Q52"]}`, "Let me think.",
		`look {"ids": ["Q41"]}`, finished}}
	p := best(t)
	p.Limits.Counted = 9
	out, err := with(m, peaksGraph(t), p).Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, &memory{},
		Limits{})
	if err != nil || out.Answer == nil || len(m.turns) != 0 {
		t.Fatalf("%+v, %v, %d turns left", out, err, len(m.turns))
	}
	text := ""
	for i, req := range m.requests {
		for _, x := range req.Messages {
			text += x.Content + "\n"
		}
		if i == 0 {
			continue
		}
		before := m.requests[i-1]
		if len(req.Messages) <= len(before.Messages) {
			t.Fatalf("request %d has %d messages after %d", i+1, len(req.Messages), len(before.Messages))
		}
		if d := cmp.Diff(before.Messages, req.Messages[:len(before.Messages)]); d != "" {
			t.Errorf("request %d changes what was sent: %s", i+1, d)
		}
		if d := cmp.Diff(encode(t, before.Tools), encode(t, req.Tools)); d != "" {
			t.Errorf("request %d changes the tools: %s", i+1, d)
		}
	}
	says(t, text, "called no tool", "is the same as your step 2", "has no column ?x", "steps are left", "nosuch")
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestBestWithoutTools: on a server without tool calls the same conversation is text, one call a turn.
func TestBestWithoutTools(t *testing.T) {
	m := &turnModel{noTools: true, turns: []string{capital, "Let me think.", finished}}
	out, _ := askBest(t, m, "What is the capital of Tarland?")
	if out.Answer == nil || len(m.turns) != 0 {
		t.Fatalf("%+v", out)
	}
	for i, req := range m.requests[1:] {
		if d := cmp.Diff(m.requests[i].Messages, req.Messages[:len(m.requests[i].Messages)]); d != "" {
			t.Errorf("request %d changes what was sent: %s", i+2, d)
		}
	}
}

// TestBestReplay: a recorded run is played again without the graph, although searches ran side by side.
func TestBestReplay(t *testing.T) {
	turns := []string{capital + "\n" + `find {"names": ["High Tar"]}`, finished}
	out, rec := askBest(t, &turnModel{turns: slices.Clone(turns)}, "What is the capital of Tarland, and which mountains are there?")
	if out.Answer == nil {
		t.Fatalf("%+v", out)
	}
	r, err := event.NewReplay(rec.events)
	if err != nil {
		t.Fatal(err)
	}
	again, err := with(r, Replayed(r), best(t)).Ask(t.Context(), r.Question(), &memory{}, r.Limits())
	if err != nil || again.Answer == nil || again.Answer.SPARQL != out.Answer.SPARQL || again.Report != out.Report {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestBestPluralNames: the plural of a name is looked for as a name, too, where nothing has the plural itself.
func TestBestPluralNames(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(peaks+`wd:Q60 rdfs:label "Super Bowl"@en . wd:Q61 rdfs:label "Super"@en .
		@prefix skos: <http://www.w3.org/2004/02/skos/core#> . wd:Q80 rdfs:label "war"@en . wd:Q84 rdfs:label "1990"@en .
		wd:Q81 rdfs:label "Waray"@en ; skos:altLabel "war"@en ; wdt:P17 wd:Q40 ; wdt:P31 wd:Q8502 .
		wd:Q80 wdt:P17 wd:Q40 . wd:Q62 rdfs:label "Tar Kings"@en . wd:Q63 rdfs:label "Tar King"@en .
		wd:Q70 wdt:P31 wd:Q60 . wd:Q71 wdt:P31 wd:Q60 .`)); err != nil {
		t.Fatal(err)
	}
	g := b.Graph(embedded.Options{Name: "test"})
	for question, want := range map[string][2]string{
		"Which Super Bowls were held before 1980?": {"Super Bowl (Q60)", "Super (Q61)"},
		"Which wars began in the 1990s?":           {"[step 1] war (Q80)", "(Q84)"},
		"Who are the Tar Kings?":                   {"Tar Kings (Q62)", "Tar King (Q63)"},
	} {
		m := &turnModel{turns: []string{`finish {"no_answer": true, "answer": "None."}`}}
		if _, err := with(m, Wikibase(g), best(t)).Ask(t.Context(),
			Question{Text: question}, nil, Limits{}); err != nil {
			t.Fatal(err)
		}
		first := m.requests[0].Messages[len(m.requests[0].Messages)-1].Content
		if !strings.Contains(first, want[0]) || strings.Contains(first, want[1]) {
			t.Errorf("%s: want %q and not %q in\n%s", question, want[0], want[1], first)
		}
	}
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// turnModel is a model that returns complete turns. A turn is either lines of the form "tool {arguments}" or text
// without a call. The model records its requests.
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

// peaks is a small graph with two mountains in one country, one of which has no height.
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

// best returns the best preset without probes, which are tested separately.
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

// TestBestTwoCalls checks that an easy question takes two calls. The first prompt already contains the entities that
// the question names, and no separate calls are made for the language and the report.
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

// TestBestLanguage checks that the language is guessed from the question's words.
func TestBestLanguage(t *testing.T) {
	m := &turnModel{turns: []string{capital, finished}}
	out, _ := askBest(t, m, "Wie heißt die Hauptstadt von Tarland, und welche Berge gibt es in diesem Land?")
	if out.Language != "de" {
		t.Errorf("the language is %q", out.Language)
	}
}

// TestBestParallel checks that all calls in a turn are run and remain one turn of the conversation.
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

// TestBestShape checks that an attempt to end with missing columns is rejected every time, but that an attempt to end
// with columns other than the announced ones, or with a name instead of an item, is rejected only once.
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
		{"announced again", []string{heights, `query {"sparql": "SELECT ?m ?h WHERE { ?m wdt:P2044 ?h }", "returns": "a mountain: ?m ?h"}`,
			`finish {"columns": ["m", "h"], "answer": "A."}`}, "", []string{"m", "h"}},
		{"a label next to its item", []string{heights, `finish {"columns": ["m", "mLabel"], "answer": "A."}`}, "",
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

// TestBestNumber checks that if the question asks for a number and the answer has none, the model is asked once to
// confirm the answer.
func TestBestNumber(t *testing.T) {
	m := &turnModel{turns: []string{heights, `finish {"columns": ["m"], "answer": "Two."}`,
		`query {"sparql": "SELECT (COUNT(DISTINCT ?m) AS ?n) WHERE { ?m wdt:P31 wd:Q8502 }"}`,
		`finish {"columns": ["n"], "answer": "Two."}`}}
	out, _ := askBest(t, m, "How many mountains are there?")
	if out.Answer == nil || out.Answer.Table.Rows[0][0].Value != "2" {
		t.Fatalf("%+v", out)
	}
}

// TestBestAnswers checks that benchmarks compare only the answer columns, without duplicate rows.
func TestBestAnswers(t *testing.T) {
	m := &turnModel{turns: []string{`query {"sparql": "SELECT ?country ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 ?country }"}`,
		`finish {"columns": ["country"], "headers": ["pays"], "answer": "Tarland.", "assumed": "Any mountain.", "open": "Heights are missing."}`}}
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
		if e.Event == "final" && (e.Assumed != "Any mountain." || e.Open != "Heights are missing." || len(e.Columns) != 1 ||
			e.Headers["country"] != "pays" || out.Answer.Headers["country"] != "pays") {
			t.Errorf("%+v", e)
		}
	}
}

// TestBestNotes checks that the model may correct what it assumed and left open once, and that what is still unsupported
// then is left out.
func TestBestNotes(t *testing.T) {
	m := &turnModel{turns: []string{capital,
		`finish {"columns": ["city"], "answer": "Tarburg.", "assumed": "Tarland is meant. Not Freedonia.", "open": "There are 3 more in Ruritania."}`,
		"Tarland is meant, not another country.", "There are four in Ruritania."}}
	e := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: best(t), Faithful: true})
	out, err := e.Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, &memory{}, Limits{})
	if err != nil || out.Answer == nil || out.Answer.Assumed != "Tarland is meant, not another country." || out.Answer.Open != "" {
		t.Fatalf("%v %+v", err, out.Answer)
	}
	if n := len(m.requests); n != 4 || m.requests[2].Purpose != "correct" || m.requests[3].Purpose != "correct" {
		t.Fatalf("%d requests", n)
	}
	last := m.requests[3].Messages[len(m.requests[3].Messages)-1].Content
	for _, want := range []string{"There are 3 more in Ruritania.", "- name: Ruritania", "- figure: 3", "do not repeat it:\n<notes>\nTarland is meant, not another country.\n"} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in %s", want, last)
		}
	}
}

// TestBestNotesOnOthers checks that a note may name what an earlier step showed.
func TestBestNotesOnOthers(t *testing.T) {
	m := &turnModel{turns: []string{`query {"sparql": "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 }"}`, capital,
		`finish {"columns": ["city"], "answer": "Tarburg.", "open": "Not the mountain High Tar, nor the other of the 2 mountains."}`}}
	e := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: best(t), Faithful: true})
	out, err := e.Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, &memory{}, Limits{})
	if err != nil || out.Answer == nil || out.Answer.Open != "Not the mountain High Tar, nor the other of the 2 mountains." || len(m.requests) != 3 {
		t.Fatalf("%v %+v after %d calls", err, out.Answer, len(m.requests))
	}
}

// TestBestNoAnswer checks that if the model reports that there is no answer, the end is accepted at once, even if a
// query returned rows.
func TestBestNoAnswer(t *testing.T) {
	m := &turnModel{turns: []string{capital, `finish {"no_answer": true, "answer": "The graph has no rivers."}`}}
	out, _ := askBest(t, m, "Which rivers are there?")
	if out.Answer != nil || out.Reason != NotFound || out.Detail != "The graph has no rivers." || len(m.requests) != 2 {
		t.Fatalf("%+v", out)
	}
}

// TestBestLabels checks that the query of an answer for a wiki page also selects labels, since its readers open the query
// and not only the table.
func TestBestLabels(t *testing.T) {
	for _, thread := range []*Thread{nil, {Heading: "Capitals"}} {
		m := &turnModel{turns: []string{capital, finished}}
		out, err := with(m, peaksGraph(t), best(t)).Ask(t.Context(), Question{Text: "What is the capital of Tarland?", Thread: thread},
			&memory{}, Limits{})
		if err != nil || out.Answer == nil {
			t.Fatalf("%v %+v", err, out)
		}
		a := out.Answer
		labels := strings.Contains(a.SPARQL, "SELECT ?city ?cityLabel WHERE") && strings.Contains(a.SPARQL, "SERVICE wikibase:label")
		if labels != (thread != nil) || len(a.Table.Rows) != 1 || len(a.Columns) != 1 || a.Columns[0] != "city" || out.Short != "Tarburg." {
			t.Errorf("%v: %s, %+v", thread, a.SPARQL, a.Table)
		}
	}
}

// TestBestLabelsOfEmptyColumns checks that a column without values gets labels if its values would be items.
func TestBestLabelsOfEmptyColumns(t *testing.T) {
	m := &turnModel{turns: []string{`query {"sparql": "SELECT ?city ?seat ?h ?x WHERE { wd:Q40 wdt:P36 ?city OPTIONAL { ?city wdt:P36 ?seat } OPTIONAL { ?city wdt:P2044 ?h } OPTIONAL { ?x wdt:P36 wd:Q8502 } }"}`,
		`finish {"columns": ["city"], "answer": "Tarburg."}`}}
	out, err := with(m, peaksGraph(t), best(t)).Ask(t.Context(), Question{Text: "What is the capital of Tarland?", Thread: &Thread{}},
		&memory{}, Limits{})
	if err != nil || out.Answer == nil {
		t.Fatalf("%v %+v", err, out)
	}
	if got := out.Answer.SPARQL; !strings.Contains(got, "SELECT ?city ?cityLabel ?seat ?seatLabel ?h ?x ?xLabel WHERE") {
		t.Error(got)
	}
}

// TestBestLabelsWithoutAnswer checks that a query that shows that there is no answer also selects labels.
func TestBestLabelsWithoutAnswer(t *testing.T) {
	m := &turnModel{turns: []string{`query {"sparql": "SELECT ?m ?seat WHERE { ?m wdt:P36 wd:Q8502 . OPTIONAL { ?m wdt:P36 ?seat } }"}`,
		`finish {"no_answer": true, "step": 2, "answer": "Tarland has no rivers."}`}}
	out, err := with(m, peaksGraph(t), best(t)).Ask(t.Context(), Question{Text: "Which rivers are in Tarland?", Thread: &Thread{}},
		&memory{}, Limits{})
	if err != nil || out.Answer != nil || out.Attempt == nil {
		t.Fatalf("%v %+v", err, out)
	}
	if got := out.Attempt.SPARQL; !strings.Contains(got, "SELECT ?m ?mLabel ?seat ?seatLabel") || !strings.Contains(got, "SERVICE wikibase:label") || len(out.Attempt.Table.Rows) != 0 {
		t.Error(got)
	}
}

// TestBestNoAnswerSaysAll checks that an end without an answer keeps what the model assumed.
func TestBestNoAnswerSaysAll(t *testing.T) {
	m := &turnModel{turns: []string{capital,
		`finish {"no_answer": true, "answer": "There are no rivers.", "assumed": "Canals are not rivers.", "open": "Lakes are missing, too."}`}}
	out, _ := askBest(t, m, "Which rivers are there?")
	if want := "There are no rivers. Canals are not rivers. Lakes are missing, too."; out.Report != want {
		t.Errorf("%q", out.Report)
	}
}

// TestBestViews checks that the same query with a different view is not a repeated call.
func TestBestViews(t *testing.T) {
	query := func(view string) string {
		return `query {"sparql": "` + view + `SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 }"}`
	}
	m := &turnModel{turns: []string{query(""), query(`#defaultView:Map\n`), query(`#defaultView:Map\n`),
		`finish {"columns": ["m"], "answer": "Two."}`}}
	out, _ := askBest(t, m, "Which mountains are there, on a map?")
	var again []bool
	for _, s := range out.Steps[1:4] {
		again = append(again, strings.Contains(s.Observation, "the same as your step"))
	}
	if d := cmp.Diff([]bool{false, false, true}, again); d != "" {
		t.Error(d)
	}
}

// TestBestViewHidesFew checks that a query gets a grid of pictures only if at least half of its rows have one, because the
// grid hides the others.
func TestBestViewHidesFew(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(peaks+"wd:Q51 wdt:P18 <http://commons.wikimedia.org/wiki/Special:FilePath/Tar.png> .\n")); err != nil {
		t.Fatal(err)
	}
	g := Wikibase(b.Graph(embedded.Options{Name: "test"}))
	for things, want := range map[string]bool{"wdt:P31 wd:Q8502": true, "wdt:P17 wd:Q40": false} { // two and three things
		m := &turnModel{turns: []string{`query {"sparql": "SELECT ?x ?image WHERE { ?x ` + things + ` . OPTIONAL { ?x wdt:P18 ?image } }"}`,
			`finish {"columns": ["x"], "answer": "These."}`}}
		out, err := with(m, g, best(t)).Ask(t.Context(), Question{Text: "Which things have an image?"}, &memory{}, Limits{})
		if err != nil || out.Answer == nil {
			t.Fatalf("%v %+v", err, out)
		}
		for _, query := range []string{out.Answer.SPARQL, out.Answer.Ran} {
			if strings.HasPrefix(query, "#defaultView:ImageGrid\n") != want || !strings.Contains(query, "SELECT ?x ?image WHERE") {
				t.Errorf("%s: %s", things, query)
			}
		}
	}
}

// TestBestNoAnswerShown checks that the model may name the query that shows that nothing fits.
func TestBestNoAnswerShown(t *testing.T) {
	m := &turnModel{turns: []string{`query {"sparql": "SELECT ?r WHERE { ?r wdt:P31 wd:Q8502 ; wdt:P36 wd:Q8502 }"}`,
		`finish {"no_answer": true, "step": 2, "answer": "No mountain is a capital."}`}}
	out, _ := askBest(t, m, "Which mountains are capitals?")
	if out.Answer != nil || out.Reason != NotFound || out.Attempt == nil || out.Attempt.Table == nil ||
		!strings.Contains(out.Attempt.SPARQL, "wdt:P36 wd:Q8502") {
		t.Fatalf("%+v, %+v", out, out.Attempt)
	}
}

// TestBestNothingFits checks that a model that rightly ends on an empty result is told how to say so, either with the
// result or after one rejected attempt.
func TestBestNothingFits(t *testing.T) {
	lake := `query {"sparql": "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 wd:Q41 }", "returns": "a mountain: ?m"}`
	none := `finish {"no_answer": true, "answer": "None: no mountain is there."}`
	for _, turns := range [][]string{{lake, none}, {lake, `finish {"step": 2, "columns": ["m"], "answer": "None."}`, none}} {
		m := &turnModel{turns: slices.Clone(turns)}
		out, rec := askBest(t, m, "Which mountains are in Tarburg?")
		if out.Reason != NotFound || out.Report != "None: no mountain is there." || len(m.requests) != len(turns) {
			t.Fatalf("%+v after %d calls", out, len(m.requests))
		}
		messages := m.requests[len(turns)-1].Messages
		last := messages[len(messages)-1].Content
		if len(turns) == 2 {
			says(t, last, "returned no rows", "nothing in this graph fits")
			continue
		}
		says(t, last, "Refused: this call, because the query of step 2 returned nothing",
			"If nothing in this graph fits, or it lacks the answer, call finish with no_answer: true and say which.")
		if !slices.ContainsFunc(rec.events, func(e Event) bool { return e.Event == "step" && e.Reason == "stop" }) {
			t.Error("the trajectory does not say that an end was refused")
		}
	}
}

// TestBestAppendOnly checks that each request starts with the entire previous request, so a provider's prompt cache
// stays valid, even after turns without a call, unreadable calls, repetitions, rejected ends and the warning that few
// steps are left.
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

// TestBestWithoutTools checks that if the server does not support tool calls, the same conversation is held as text,
// with one call per turn.
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

// TestBestReplay checks that a recorded run can be replayed without the graph, even though its searches ran in
// parallel.
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

// TestBestPluralNames checks that if a plural in the question is not the name of anything, the singular is looked up,
// too.
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
		lookedUp(t, g, question, want[0], want[1])
	}
}

// lookedUp checks that the first prompt for a question contains want and does not contain not.
func lookedUp(t *testing.T, g *embedded.Graph, question, want, not string) {
	t.Helper()
	m := &turnModel{turns: []string{`finish {"no_answer": true, "answer": "None."}`}}
	if _, err := with(m, Wikibase(g), best(t)).Ask(t.Context(), Question{Text: question}, nil, Limits{}); err != nil {
		t.Fatal(err)
	}
	first := m.requests[0].Messages[len(m.requests[0].Messages)-1].Content
	if !strings.Contains(first, want) || strings.Contains(first, not) {
		t.Errorf("%s: want %q and not %q in\n%s", question, want, not, first)
	}
}

// TestBestOtherLanguages tests German, which capitalizes common nouns, and French and Italian, in which some words are
// elided.
func TestBestOtherLanguages(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(peaks+`@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
		wd:Q60 rdfs:label "Florian Jahr"@en ; wdt:P17 wd:Q40 . wd:Q61 rdfs:label "Austral"@en ; skos:altLabel "AU"@en .
		wd:Q62 rdfs:label "Elesia"@en ; wdt:P17 wd:Q40 . wd:Q63 rdfs:label "d'Arva"@en .`)); err != nil {
		t.Fatal(err)
	}
	g := b.Graph(embedded.Options{Name: "test"})
	for question, want := range map[string][2]string{
		"In welchem Jahr hatte Tarburg die meisten Einwohner, und wie viele waren es?": {"Tarburg (Q41)", "Jahr"},
		"Wer war Florian Jahr, und in welchen Orten lebte er nach seiner Kindheit?":    {"Florian Jahr (Q60)", "No name here"},
		"Quelles villes se trouvent au bord du fleuve, et dans quel pays ?":            {"", "Q61"},
		"Quelle est la capitale de l'Elesia, et qui était son premier président ?":     {"Elesia (Q62)", "l'Elesia"},
		"Quali sono le città dell’Elesia, e quando sono state fondate?":                {"Elesia (Q62)", "dell’"},
		"Which towns were founded by d'Arva?":                                          {"d'Arva (Q63)", "No name here"},
	} {
		lookedUp(t, g, question, want[0], want[1])
	}
}

// TestBestPropertyIDs checks that properties whose IDs are in the question are shown.
func TestBestPropertyIDs(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(peaks)); err != nil {
		t.Fatal(err)
	}
	g := b.Graph(embedded.Options{Name: "test"})
	lookedUp(t, g, "What is the ratio of P2044 to P36?", "P2044 elevation", "No name here")
	lookedUp(t, g, "Qual è il rapporto tra P2044 e P36?", "P36 capital", "No name here")
}

// TestBestPages checks that if a question names five entities, four are shown with their properties. The omitted entity
// is named by a common word and is not a class, so its page is the least useful.
func TestBestPages(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(peaks+`
		wd:Q60 rdfs:label "Juniper"@en ; wdt:P17 wd:Q40 ; wdt:P36 wd:Q41 ; wdt:P2044 7 . wd:Q61 rdfs:label "Juniper"@en ;
		wdt:P36 wd:Q41 ; wdt:P2044 5 . wd:Q62 rdfs:label "music"@en ; wdt:P36 wd:Q41 .
		wd:Q53 wdt:P31 wd:Q8502 . wd:Q54 wdt:P31 wd:Q8502 .`)); err != nil {
		t.Fatal(err)
	}
	m := &turnModel{turns: []string{`finish {"no_answer": true, "answer": "None."}`}}
	if _, err := with(m, Wikibase(b.Graph(embedded.Options{Name: "test"})), best(t)).Ask(t.Context(),
		Question{Text: "Which mountains of Tarland has the music of Juniper?"}, nil, Limits{}); err != nil {
		t.Fatal(err)
	}
	first := m.requests[0].Messages[len(m.requests[0].Messages)-1].Content
	says(t, first, "Juniper (Q60)\n  P", "Juniper (Q61)\n  P", "mountain (Q8502)\n  used by", "Tarland (Q40), country\n  P", "music (Q62)\n")
	if strings.Contains(first, "music (Q62)\n  ") {
		t.Errorf("the page of music is shown:\n%s", first)
	}
}

// busy is a graph whose queries fail because the query service requests a pause.
type busy struct {
	tool.Graph
	pause time.Duration
	left  int // number of further queries that will fail
}

func (g *busy) Query(ctx context.Context, query string) (*kg.Table, error) {
	if g.left > 0 && strings.Contains(query, "P36 ?city") {
		g.left--
		return nil, &kg.Error{Kind: kg.RateLimited, Message: "the service wants us to wait", RetryAfter: g.pause}
	}
	return g.Graph.Query(ctx, query)
}

// TestBestBusy checks that if a model ends on a query that the graph did not answer, it is told to rerun the query. If
// the service requests a long pause, or if the model insists, the run ends with the service's error, not as a run that
// found no answer.
func TestBestBusy(t *testing.T) {
	none := `finish {"no_answer": true, "answer": "There is none."}`
	for _, tt := range []struct {
		name  string
		busy  busy
		turns []string
		want  Reason
		calls int
	}{
		{"once", busy{pause: 5 * time.Second, left: 1}, []string{capital, finished, capital, `finish {"step": 4, "columns": ["city"], "answer": "Tarburg."}`}, Answered, 4},
		{"no answer, although the query was not answered", busy{pause: 5 * time.Second, left: 9}, []string{capital, none, none, capital}, GraphFailed, 3},
		{"insists", busy{pause: 5 * time.Second, left: 9}, []string{capital, finished, finished, finished}, GraphFailed, 3},
		{"asks again", busy{pause: 5 * time.Second, left: 9}, []string{capital, capital, capital, capital}, GraphFailed, 3},
		{"a long pause", busy{pause: 15 * time.Minute, left: 9}, []string{capital, finished}, GraphFailed, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, rec, src := &turnModel{turns: tt.turns}, &memory{}, peaksGraph(t)
			g := tt.busy
			g.Graph, src[0].Graph = src[0].Graph, &g
			out, err := with(m, src, best(t)).Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, rec, Limits{})
			if err != nil || out.Reason != tt.want || len(m.requests) != tt.calls {
				t.Fatalf("%+v, %v after %d calls", out.Ending, err, len(m.requests))
			}
			if tt.want == Answered {
				messages := m.requests[2].Messages
				says(t, messages[len(messages)-1].Content, "did not answer the query of step 2", "run it again")
				return
			}
			var ke *kg.Error
			if !errors.As(out.Cause, &ke) || ke.RetryAfter != tt.busy.pause || !out.ServiceFailed() {
				t.Errorf("the cause is %v", out.Cause)
			}
		})
	}
}

// TestBestStuck checks that a model that keeps repeating a rejected end is not asked forever.
func TestBestStuck(t *testing.T) {
	empty := `query {"sparql": "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 wd:Q41 }", "returns": "a mountain: ?m"}`
	m := &turnModel{turns: append([]string{empty}, slices.Repeat([]string{`finish {"step": 2, "answer": "None."}`}, 9)...)}
	out, _ := askBest(t, m, "Which mountains are in Tarburg?")
	if out.Answer != nil || out.Reason != Loop || len(m.requests) != 4 {
		t.Errorf("%+v after %d calls", out.Ending, len(m.requests))
	}
}

// TestBestRepeats checks that a model that repeats earlier calls, even with different thoughts, is told so and is not
// asked forever. A new call restarts the count.
func TestBestRepeats(t *testing.T) {
	empty := `query {"sparql": "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 wd:Q41 }", "returns": "a mountain: ?m"}`
	for name, tt := range map[string]struct {
		turns []string
		calls int
	}{
		"the same":      {slices.Repeat([]string{empty}, 30), 5},
		"two, in turn":  {slices.Repeat([]string{empty, capital}, 15), 6},
		"one new":       {append([]string{empty, empty, empty, empty, capital}, slices.Repeat([]string{empty}, 20)...), 9},
		"same in a row": {[]string{empty, empty, `finish {"no_answer": true, "answer": "None."}`}, 3},
	} {
		m := &turnModel{turns: tt.turns}
		out, _ := askBest(t, m, "Which mountains are in Tarburg?")
		if out.Answer != nil || len(m.requests) != tt.calls || tt.calls > 3 && out.Reason != Loop {
			t.Errorf("%s: %+v after %d calls", name, out.Ending, len(m.requests))
		}
		last := m.requests[len(m.requests)-1].Messages
		says(t, last[len(last)-1].Content, "is the same as your step 2, and its result would be the same")
	}
}

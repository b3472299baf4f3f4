package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	webask "github.com/spinachbot/spinachbot/internal/web/ask"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// answering simulates an agent that returns a table and, if the run has a reviewer, consults the reviewer once.
type answering struct{ who policy.Reviewer }

func (a answering) Ask(ctx context.Context, q agent.Question, rec agent.Recorder, _ agent.Limits) (*agent.Outcome, error) {
	start := event.Event{Event: "start", Question: &q, Format: event.Format, Preset: "spinach"}
	if err := rec.Record(ctx, start); err != nil {
		return nil, err
	}
	if a.who != nil {
		if _, err := a.who.Review(ctx, policy.Look{Place: 1, Turn: "Action: stop()", Unseen: []string{"Q1"}}); err != nil {
			return nil, err
		}
	}
	const commons = "http://commons.wikimedia.org/wiki/Special:FilePath/"
	table := &kg.Table{Vars: []string{"item", "itemLabel", "flag", "seal"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q64"), rdf.LangString("Berlin", "en"),
		rdf.IRI(commons + "Flag.svg"), rdf.IRI(commons + "Seal.svg")}}}
	const query = "SELECT ?item ?itemLabel WHERE { wd:Q183 wdt:P36 ?item . ?item rdfs:label ?itemLabel . FILTER(LANG(?itemLabel) = \"en\") }"
	for _, e := range []event.Event{
		{Event: "step", Step: &event.Step{N: 1, Thought: "so", Action: "execute_sparql", Argument: query, Observation: "Q64", Rows: 1, MS: 3}},
		{Event: "rollback", Reason: "repeated", To: new(int), Step: &event.Step{Action: "search_wikidata", Argument: "x"}},
		{Event: "final", SPARQL: query, Ran: query, KG: "wikidata", Table: table}, {Event: "end", Report: "Berlin."}} {
		if err := rec.Record(ctx, e); err != nil {
			return nil, err
		}
	}
	return &agent.Outcome{}, nil
}

// pictures contains a flag, and a seal that is temporarily unavailable.
type pictures struct{}

func (pictures) Get(_ context.Context, file string) (string, []byte, error) {
	if file == "Flag.svg" {
		return "image/png", []byte("\x89PNG"), nil
	}
	return "", nil, errors.New("busy")
}

// asked contains the IDs of an answered question, of a question that is waiting for a decision, and of a query run in
// the editor.
type asked struct{ done, waits, ran string }

// askPages returns the options of a server with the pages of package ask, on which two questions have been asked.
func askPages(t *testing.T) (*Options, asked) {
	t.Helper()
	graph, err := sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
	if err != nil {
		t.Fatal(err)
	}
	o := apis(nil, nil)
	dir := t.TempDir()
	o.Site = layout.New(o.Log)
	pages := webask.New(webask.Options{Log: o.Log, Site: o.Site, Base: t.Context(), Dir: dir, Parallel: 10, Now: time.Now, Pictures: pictures{},
		Presets: []webask.Preset{{Name: "spinach", Policies: []string{"linear"}}}, Graphs: []webask.Graph{{Name: "wikidata", Title: "Wikidata"}},
		Graph: func(context.Context, string) (*agent.Source, error) { return agent.Wikibase(graph).Main(), nil },
		Service: func(_ context.Context, _ webask.Choice, who policy.Reviewer) (*ask.Service, error) {
			return &ask.Service{Log: slog.New(slog.DiscardHandler), Asker: answering{who}, Open: ask.Folder(dir, time.Now), Now: time.Now}, nil
		}})
	o.Pages = maps.Clone(o.Pages)
	maps.Copy(o.Pages, pages.Handlers())
	s := httptest.NewServer(New(o))
	defer s.Close()
	var ids [2]string
	for i, review := range []string{"", "1"} {
		req := httptest.NewRequest(http.MethodPost, s.URL+"/a", strings.NewReader(url.Values{"q": {"Which?"}, "review": {review}}.Encode()))
		req.RequestURI = ""
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		ids[i] = strings.TrimPrefix(resp.Header.Get("Location"), "/a/")
	}
	const ran = `SELECT ?item ?flag ?seal WHERE { wd:Q183 wdt:P36 ?item . BIND(<http://commons.wikimedia.org/wiki/Special:FilePath/Flag.svg> AS ?flag)
  BIND(<http://commons.wikimedia.org/wiki/Special:FilePath/Seal.svg> AS ?seal) }`
	resp, err := s.Client().PostForm(s.URL+"/editor", url.Values{"do": {"run"}, "query": {ran}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	found := regexp.MustCompile(`/editor/ran/([a-z2-7]{16})`).FindSubmatch(page)
	if err != nil || found == nil {
		t.Fatalf("%v: no result in %s", err, page)
	}
	return &o, asked{ids[0], ids[1], string(found[1])}
}

// pagesSeen returns requests for the pages, one for each described response.
func pagesSeen(o *Options, ids asked) []exchange {
	done, waits, none := "/a/"+ids.done, "/a/"+ids.waits, "/a/aaaaaaaaaaaaaaaa"
	long, ran, gone := "q="+strings.Repeat("x", 100_000), "/editor/ran/"+ids.ran, "/editor/ran/aaaaaaaaaaaaaaaa"
	return []exchange{
		{o, "GET", "/", "", "", 200},
		{o, "POST", "/a", "q=Which", "", 303}, {o, "POST", "/a", "q=", "", 422}, {o, "POST", "/a", long, "", 413},
		{o, "POST", "/a", "q=x&follows=aaaaaaaaaaaaaaaa", "", 404}, {o, "POST", "/a", "q=x", "Sec-Fetch-Site: cross-site", 403},
		{o, "GET", done + "/events", "", "", 200}, {o, "GET", none + "/events", "", "", 404},
		{o, "GET", done, "", "", 200}, {o, "GET", none, "", "", 404}, {o, "GET", waits, "", "", 200},
		{o, "GET", done + "/rows?sort=item&limit=5", "", "", 200}, {o, "GET", waits + "/rows", "", "", 404},
		{o, "GET", done + "/result/csv", "", "", 200}, {o, "GET", done + "/result/tsv", "", "", 200},
		{o, "GET", done + "/result/json", "", "", 200}, {o, "GET", done + "/result/md", "", "", 200},
		{o, "GET", done + "/result/wiki", "", "", 200}, {o, "GET", done + "/result/rq", "", "", 200},
		{o, "GET", done + "/result/exe", "", "", 404},
		{o, "POST", done + "/stop", "", "", 303}, {o, "POST", none + "/stop", "", "", 404},
		{o, "POST", waits + "/continue", "", "", 303}, {o, "POST", none + "/continue", "", "", 404},
		{o, "POST", done + "/continue", "", "", 409},
		{o, "GET", done + "/step/1", "", "", 200}, {o, "GET", done + "/step/9", "", "", 404},
		{o, "POST", done + "/step/1", "turn=", "", 422}, {o, "POST", done + "/step/9", "turn=x", "", 404},
		{o, "GET", done + "/row/1", "", "", 200}, {o, "GET", done + "/row/9", "", "", 404},
		{o, "GET", done + "/picture/1/flag", "", "", 200}, {o, "GET", done + "/picture/1/item", "", "", 404},
		{o, "GET", done + "/picture/1/seal", "", "", 503},
		{o, "GET", done + "/missing?item=Paris", "", "", 200}, {o, "GET", waits + "/missing?item=Paris", "", "", 404},
		{o, "GET", "/editor", "", "", 200}, {o, "POST", "/editor", "query=ASK%20%7B%7D&do=check", "", 200}, {o, "POST", "/editor", strings.Repeat(long, 3), "", 413},
		{o, "POST", "/editor/check", `{"query":"SELECT ?c WHERE { ?c wdt:P36 wd:Q64 } LIMT 3"}`, "", 200},
		{o, "POST", "/editor/check", `{"query":"SELECT ?c WHERE { ?c wdt:P36 wd:Q64 }"}`, "", 200},
		{o, "POST", "/editor/check", `{`, "", 400}, {o, "POST", "/editor/check", `{"query":"","graph":"x"}`, "", 422},
		{o, "POST", "/editor/complete", `{"query":"","before":"SELECT ?c WHERE { wd:Ger"}`, "", 200},
		{o, "POST", "/editor/complete", `{`, "", 400}, {o, "POST", "/editor/complete", `{"query":"","graph":"x"}`, "", 422},
		{o, "GET", ran, "", "", 200}, {o, "GET", gone, "", "", 404},
		{o, "GET", ran + "/rows?sort=item&limit=5", "", "", 200}, {o, "GET", gone + "/rows", "", "", 404},
		{o, "GET", ran + "/result/csv", "", "", 200}, {o, "GET", ran + "/result/exe", "", "", 404},
		{o, "GET", ran + "/row/1", "", "", 200}, {o, "GET", ran + "/row/9", "", "", 404},
		{o, "GET", ran + "/picture/1/flag", "", "", 200}, {o, "GET", ran + "/picture/1/item", "", "", 404},
		{o, "GET", ran + "/picture/1/seal", "", "", 503},
		{o, "GET", ran + "/missing?item=Paris", "", "", 200}, {o, "GET", gone + "/missing?item=Paris", "", "", 404},
		{o, "GET", "/static/none.js", "", "", 404},
		{o, "POST", waits + "/decide", "turn=1&verdict=fly", "", 422}, {o, "POST", none + "/decide", "turn=1&verdict=accepted", "", 404},
		{o, "POST", waits + "/decide", "turn=7&verdict=accepted", "", 409},
	}
}

// template returns the described path that matches a request's path.
func (d *described) template(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if _, ok := d.Paths[path]; ok {
		return path
	}
	if strings.HasPrefix(path, "/static/") {
		return "/static/"
	}
	for t := range d.Paths {
		if pattern := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(t, `[^/]+`); regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			return t
		}
	}
	return ""
}

// streams checks the events of both questions against their schemas, until the decision on the second question is made.
func (d *described) streams(t *testing.T, o *Options, ids asked) {
	t.Helper()
	s := httptest.NewServer(New(*o))
	defer s.Close()
	event := d.schema(t, json.RawMessage(`{"$ref":"#/components/schemas/AskEvent"}`))
	turn := d.schema(t, json.RawMessage(`{"$ref":"#/components/schemas/AskTurn"}`))
	for id, want := range map[string]string{ids.done: "start step rollback final end ", ids.waits: "start turn step rollback final end "} {
		resp, err := s.Client().Get(s.URL + "/a/" + id + "/events")
		if err != nil {
			t.Fatal(err)
		}
		kind, seen := "", ""
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			field, value, _ := strings.Cut(sc.Text(), ": ")
			switch field {
			case "event":
				kind = value
				seen += kind + " "
			case "data":
				var v any
				if err := json.NewDecoder(bytes.NewReader([]byte(value))).Decode(&v); err != nil {
					t.Fatal(err)
				}
				schema := event
				if kind == "turn" {
					schema = turn
					resp, err := s.Client().PostForm(s.URL+"/a/"+id+"/decide", url.Values{"turn": {"1"}, "verdict": {"accepted"}})
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
				}
				if err := schema.Validate(v); err != nil {
					t.Errorf("%s: %v", value, err)
				}
			}
		}
		resp.Body.Close()
		if seen != want {
			t.Errorf("the stream has %q, want %q", seen, want)
		}
	}
}

package earlier_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Our own replies are found just like archived discussions, with the query that people accepted. Rejected replies are
// not found.
func TestOwnReplies(t *testing.T) {
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	entry := func(key, question, query string) *bot.Entry {
		return &bot.Entry{Key: key, Page: "Wikidata:Request a query", Heading: "H " + key, State: bot.Posted, Kind: bot.Request,
			Thread: key, Question: question, Created: at,
			Draft: &bot.Draft{Turn: agent.Turn{SPARQL: query}, Reply: forum.Reply{Total: 3}}}
	}
	bridges, lakes := entry("a", "bridges over the Rhine in Cologne", "bridges"), entry("b", "lakes of Finland by area", "lakes")
	tunnels := entry("c", "longest railway tunnels of Switzerland", "tunnels")
	lakes.Receptions = []bot.Reception{{Verdict: bot.Refused}}
	tunnels.Solution = &bot.Solution{By: "Kind", SPARQL: "better tunnels", Rows: 2, Ours: 3}
	rows := &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1")}}}
	f := earlier.New(slog.New(slog.DiscardHandler), t.TempDir(), tables{"bridges": rows, "lakes": rows, "better tunnels": rows},
		func() time.Time { return at })
	f.Ledger = func(context.Context) ([]*bot.Entry, error) { return []*bot.Entry{bridges, lakes, tunnels}, nil }
	for question, want := range map[string]string{"Which bridges over the Rhine are in Cologne?": "bridges",
		"the lakes of Finland by area": "", "longest railway tunnels in Switzerland": "better tunnels"} {
		got, err := f.Similar(t.Context(), question, 2)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].SPARQL != want ||
			got[0].Page != "Wikidata:Request a query" || got[0].Month.Month() != time.March) {
			t.Errorf("%s: %+v, want %q", question, got, want)
		}
	}
}

// A reply links only to pages of its own wiki.
func TestOwnRepliesOfTheWiki(t *testing.T) {
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	rows := &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1")}}}
	var entries []*bot.Entry
	for key, page := range map[string]string{"main": "Wikidata:Request a query",
		"de": bot.PageName("de", "Wikipedia:Abfragen")} {
		entries = append(entries, &bot.Entry{Key: key, Page: page, State: bot.Posted, Kind: bot.Request, Thread: key,
			Question: "bridges over the Rhine in Cologne", Created: at,
			Draft: &bot.Draft{Turn: agent.Turn{SPARQL: "bridges"}, Reply: forum.Reply{Total: 3}}})
	}
	for wiki, want := range map[string]string{"": "Wikidata:Request a query", "de": "Wikipedia:Abfragen", "fr": ""} {
		f := earlier.New(slog.New(slog.DiscardHandler), t.TempDir(), tables{"bridges": rows}, func() time.Time { return at })
		f.Ledger = func(context.Context) ([]*bot.Entry, error) { return entries, nil }
		f.Wiki = wiki
		got, err := f.Similar(t.Context(), "Which bridges over the Rhine are in Cologne?", 2)
		if err != nil || len(got) > 1 || (len(got) == 0) != (want == "") || len(got) == 1 && got[0].Page != want {
			t.Errorf("%q: %+v, %v, want %q", wiki, got, err, want)
		}
	}
}

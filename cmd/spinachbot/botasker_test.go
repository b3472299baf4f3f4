package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// heard is a model that records its prompts and returns no answer.
type heard struct{ shown string }

func (h *heard) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	for _, m := range req.Messages {
		h.shown += m.Content + "\n"
	}
	return nil, errors.New("no more")
}

type ignored struct{}

func (ignored) Record(context.Context, agent.Event) error { return nil }

// TestBotExamplesAndNotes checks that the bot's model is shown approved notes and, if the settings allow it, the
// harvest's solved questions, but never the harvested copy of the same thread, however the question is reworded.
func TestBotExamplesAndNotes(t *testing.T) {
	data := testutil.Folder(t)
	candidate := func(id, heading, post, query string) string {
		c := dataset.Candidate{Schema: dataset.CandidateSchema, ID: id, Stage: dataset.Staged, Result: &dataset.Result{Rows: 3}, Cleaned: query}
		c.Conversation.Comments = []dataset.Comment{{Text: post}}
		c.Provenance = dataset.Provenance{Page: "Archive/2020/01", Heading: heading, Month: "2020-01", URL: "https://w/A"}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	folder := filepath.Join(data, harvestFolder)
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const post = "I would love to have all the rivers that flow into Lake Geneva with their lengths please"
	all := candidate("c-0000000000000001", "Rivers of Geneva", "Rivers, see the title", "SELECT ?same WHERE { ?same wdt:P403 wd:Q6420 }") +
		candidate("c-0000000000000002", "Moved here", post, "SELECT ?copy WHERE { ?copy wdt:P403 wd:Q6421 }") +
		candidate("c-0000000000000003", "Another one", "Rivers that flow into a lake", "SELECT ?r WHERE { ?r wdt:P31 wd:Q4022 . ?r wdt:P403 wd:Q4 . }") +
		candidate("c-0000000000000004", "Lakes", "All rivers flowing into Lake Constance", "SELECT ?good WHERE { ?good wdt:P403 wd:Q4127 }")
	write(filepath.Join(folder, dataset.CandidatesFile), all)
	write(filepath.Join(data, lessonsFile), `{"id":"n1","kg":"wikidata","text":"Mouths are values of P403.","state":"approved","source":"x","made":"2026-05-01T00:00:00Z"}
{"id":"n2","kg":"wikidata","text":"Never read.","state":"proposed","source":"x","made":"2026-05-01T00:00:00Z"}
`)
	cfg, _, err := config.Load(config.Source{Environ: []string{"DATA_DIR=" + data}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), filepath.Join(data, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	graph, err := sandbox.Graph(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &heard{}
	e := &env{now: time.Now}
	b := &botAsker{e: e, lg: quietLogger(), cfg: cfg, st: st, sources: agent.Wikibase(graph),
		engine: func(sources agent.Sources, opts agent.Options) *agent.Engine {
			return agent.New(quietLogger(), m, sources, e.now, opts)
		}}
	q := agent.Question{ID: "sb-1", Text: "Which rivers flow into Lake Geneva, and how long are they?", Language: "en",
		Thread: &agent.Thread{Heading: "Rivers of Geneva", Posts: []string{post},
			Queries: []string{"SELECT ?river { ?river wdt:P31 wd:Q4022 . ?river wdt:P403 wd:Q4 }"}}}
	see := func(want string, not ...string) {
		t.Helper()
		m.shown = ""
		if _, err := b.Ask(t.Context(), q, ignored{}, agent.Limits{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.shown, want) {
			t.Errorf("%q is not shown:\n%s", want, m.shown)
		}
		for _, n := range not {
			if strings.Contains(m.shown, n) {
				t.Errorf("%q is shown", n)
			}
		}
	}
	see("Mouths are values of P403", "?good", "Never read")
	cfg.AnswerExamples = 3
	see("?good", "?same", "?copy", "SELECT ?r ")
	cfg.AnswerNotes = "off"
	see("?good", "Mouths are values")
	write(filepath.Join(folder, dataset.CandidatesFile), all+candidate("c-0000000000000005", "New", "Rivers that flow into Lake Biel",
		"SELECT ?fresh WHERE { ?fresh wdt:P403 wd:Q4444 }"))
	if err := os.Chtimes(filepath.Join(folder, dataset.CandidatesFile), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	see("?fresh") // a new harvest is noticed while the bot runs
	write(filepath.Join(folder, dataset.CandidatesFile), "garbage")
	see("rivers flow into Lake Geneva") // it answers without them
}

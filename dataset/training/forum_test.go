package training_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/dataset/training"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// discussed returns a discussion in which the bot answered and a user posted a different query.
func discussed(id string, change func(*dataset.Candidate)) dataset.Candidate {
	c := dataset.Candidate{Schema: dataset.CandidateSchema, ID: "c-000000000000000" + id, Stage: dataset.Staged,
		Original: "SELECT ?m { ?m wdt:P31 wd:Q8502 }", Cleaned: "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 . }",
		Result: &dataset.Result{Rows: 3}, Provenance: dataset.Provenance{Heading: "Mountains " + id, License: dataset.License,
			Permalink: "https://wiki.example/w/index.php?oldid=" + id}}
	c.Conversation = dataset.Conversation{Thanked: true, Comments: []dataset.Comment{
		{Author: "Ann", Text: "All mountains, please. I have: [query]"}, {Author: "Bot"}, {Author: "Bea"}}}
	c.Queries = []dataset.Query{{SPARQL: "SELECT ?old {}", Author: "Ann"},
		{SPARQL: "SELECT ?x { ?x wdt:P279 wd:Q5 }", Comment: 1, Author: "Bot", Bot: true},
		{SPARQL: c.Original, Comment: 2, Author: "Bea"}}
	if change != nil {
		change(&c)
	}
	return c
}

func harvest(t *testing.T, cs ...dataset.Candidate) string {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, dataset.CandidatesFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		if err := dataset.WriteCandidate(f, &c); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Only an answer that was replaced by a confirmed one yields a pair.
func TestCorrections(t *testing.T) {
	person := func(query string) func(*dataset.Candidate) {
		return func(c *dataset.Candidate) { c.Queries[1].Bot, c.Queries[1].SPARQL = false, query }
	}
	dir := harvest(t, discussed("1", nil),
		discussed("2", func(c *dataset.Candidate) { c.Conversation.Thanked = false }),
		discussed("3", func(c *dataset.Candidate) { c.Stage = dataset.Gone }),
		discussed("4", func(c *dataset.Candidate) { c.Result.Rows = 0 }),
		discussed("5", func(c *dataset.Candidate) { c.Queries[2].Bot = true }),
		discussed("6", func(c *dataset.Candidate) { c.Queries = c.Queries[2:] }),
		discussed("7", person("SELECT ?x { ?x wdt:P279 wd:Q5 }")),                // unrelated to the answer
		discussed("8", person("SELECT ?m ?n { ?m wdt:P31 wd:Q8502 ; p:P1 ?n }")), // on the same topic as the answer
		discussed("9", person("SELECT   ?m WHERE { ?m wdt:P31 wd:Q8502 }")))      // same query
	o := training.Options{As: transcript.AsPreference}
	x := from(t, dir, o)
	if len(x.Lines) != 2 || x.Out[training.Unsettled] != 3 || x.Out[training.NoPair] != 4 {
		t.Fatalf("%d %v", len(x.Lines), x.Out)
	}
	var got struct {
		Prompt, Chosen, Rejected []struct{ Role, Content string }
		Source                   map[string]any
	}
	if err := json.Unmarshal(x.Lines[0].Text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Prompt[0].Content != "Mountains 1\n\nAll mountains, please. I have: \nSELECT ?old {}\n" ||
		got.Chosen[0].Content != "SELECT ?m { ?m wdt:P31 wd:Q8502 }" ||
		got.Rejected[0].Content != "SELECT ?x { ?x wdt:P279 wd:Q5 }" || got.Source["bot"] != true ||
		got.Source["why"] != "thanked" || got.Source["licence"] != dataset.License {
		t.Errorf("%+v", got)
	}
	if err := x.CheckLicense("mit"); err == nil || x.CheckLicense("cc-by-sa-4.0") != nil {
		t.Errorf("license: %v", err)
	}
	card := string(x.Card(&training.Description{As: o.As, License: "cc-by-sa-4.0"}))
	if !strings.Contains(card, "- <https://wiki.example/w/index.php?oldid=8>") || !strings.Contains(card, "| forum | 2 |") {
		t.Error(card)
	}
	o.Excluded = func(_ context.Context, path string) (map[string]bool, error) {
		return map[string]bool{"c-0000000000000008": path == dir}, nil
	}
	if x = from(t, dir, o); len(x.Lines) != 1 || x.Out[training.Excluded] != 1 {
		t.Errorf("excluded by annotators: %d %v", len(x.Lines), x.Out)
	}
	o.Excluded = nil
	o.Not = examples.Hold([]dataset.Item{{Question: "x y", SPARQL: "SELECT ?mountain { ?mountain wdt:P31 wd:Q8502 }"}})
	if x = from(t, dir, o); len(x.Lines) != 0 || x.Held() != 2 {
		t.Errorf("held back: %d %v", len(x.Lines), x.Out)
	}
	o.As = transcript.AsSFT
	if _, err := training.From(t.Context(), []string{dir}, o); err == nil || !strings.Contains(err.Error(), "preference") {
		t.Errorf("sft of discussions: %v", err)
	}
}

func TestLicense(t *testing.T) {
	for name, want := range map[string]string{"CC-BY-SA-4.0": "cc-by-sa-4.0", "LicenseRef-house.1": "licenseref-house.1",
		"unknown": "", "": "", "LicenseRef-": "", "LicenseRef-a\nb": ""} {
		if got, err := training.License(name); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

// TestForLoaders writes pairs from each source, with both text and native calls, to the folder named by LOADERS, for
// tools/loaders.
func TestForLoaders(t *testing.T) {
	out := os.Getenv("LOADERS")
	if out == "" {
		t.Skip("LOADERS does not name a folder; tools/loaders/check.sh sets it")
	}
	for name, path := range map[string]string{"tree": folder(t, branched(false), branched(true)), "forum": harvest(t, discussed("1", nil)),
		"review": folder(t, reviewed())} {
		x := from(t, path, training.Options{As: transcript.AsPreference, License: "cc-by-sa-4.0"})
		if len(x.Lines) == 0 {
			t.Fatalf("%s: %v", name, x.Out)
		}
		f, err := os.OpenFile(filepath.Join(out, "preference-"+name+".jsonl"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range x.Lines {
			if _, err := f.Write(l.Text); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// branched returns a search in which a step on the path to the answer has a failed sibling.
func branched(native bool) *log {
	l := start("Which branch?")
	root := l.add(1, event.Event{Event: "tree", Tree: &event.Tree{Policy: "mcts"}})
	m := l.asks(root, "p", turn("stop"), turn("broken"))
	if native {
		e := &l.events[m-1]
		e.Request.Tools = []llm.Tool{{Name: "stop", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
			{Name: "broken", Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)}}
		for i, name := range []string{"stop", "broken"} {
			e.Response.Choices[i] = llm.Choice{Content: "t", ToolCalls: []llm.ToolCall{{ID: "c", Name: name, Arguments: `{"q":"x"}`}}}
		}
	}
	stop, broken := l.step(m, "stop"), l.step(m, "broken")
	l.add(broken, event.Event{Event: "leaf", Reason: event.LeafFailed})
	return l.end(stop, "ASK {}", 1)
}

// reviewed returns a run in which a reviewer edited a turn.
func reviewed() *log {
	l := start("Reviewed?")
	m := l.asks(1, "p", turn("wrong"))
	at := l.add(m, event.Event{Event: "review", Review: &event.Review{Verdict: event.Edited, By: "Ann",
		Before: &llm.Message{Role: llm.Assistant, Content: turn("wrong")}, After: &llm.Message{Role: llm.Assistant, Content: turn("right")}}})
	return l.end(l.step(at, "right"), "ASK {}", 1)
}

// If a reviewer edited a turn, training uses the edited version.
func TestReviewed(t *testing.T) {
	x := from(t, folder(t, reviewed()), training.Options{As: transcript.AsSFT})
	if len(x.Lines) != 1 || !strings.Contains(string(x.Lines[0].Text), "Action: right(x)") ||
		strings.Contains(string(x.Lines[0].Text), "Action: wrong(x)") {
		t.Errorf("%v %v", x.Lines, x.Out)
	}
}

package agent

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseTurn(t *testing.T) {
	const q = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . FILTER(STRLEN(STR(?x)) < 50) }"
	tests := []struct {
		name, text          string
		thought, action, ar string
		more                bool
	}{
		{"as asked", "Thought: look\nAction: search_wikidata(Danube)", "look", actSearch, "Danube", false},
		{"double quotes", "Thought: look\nAction: search_wikidata(\"Danube\")", "look", actSearch, "Danube", false},
		{"single quotes with an apostrophe", "Thought: x\nAction: search_wikidata('Schindler's List')", "x", actSearch, "Schindler's List", false},
		{"bare apostrophe", "Thought: x\nAction: search_wikidata(Schindler's List)", "x", actSearch, "Schindler's List", false},
		{"curly quotes", "Thought: x\nAction: search_wikidata(“Danube”)", "x", actSearch, "Danube", false},
		{"triple quotes", "Thought: x\nAction: execute_sparql(\"\"\"" + q + "\"\"\")", "x", actExecute, q, false},
		{"brackets inside", "Thought: x\nAction: search_wikidata(Mercury (planet))", "x", actSearch, "Mercury (planet)", false},
		{"bracket closed in quotes", `Thought: x` + "\n" + `Action: search_wikidata("smile :)")`, "x", actSearch, "smile :)", false},
		{"closing bracket missing", "Thought: x\nAction: search_wikidata(Danube", "x", actSearch, "Danube", false},
		{"no brackets", "Thought: x\nAction: search_wikidata Danube", "x", actSearch, "Danube", false},
		{"colon instead of brackets", "Thought: x\nAction: get_wikidata_entry: Q1653", "x", actEntry, "Q1653", false},
		{"query", "Thought: x\nAction: execute_sparql(" + q + ")", "x", actExecute, q, false},
		{"query on many lines", "Thought: x\nAction: execute_sparql(\n" + q + "\nLIMIT 5\n)", "x", actExecute, q + "\nLIMIT 5", false},
		{"query in a fence in brackets", "Thought: x\nAction: execute_sparql(\n```sparql\n" + q + "\n```\n)", "x", actExecute, q, false},
		{"everything in a fence", "Thought: x\nAction:\n```\nexecute_sparql(" + q + ")\n```", "x", actExecute, q, false},
		{"query in a fence without brackets", "Thought: x\nAction: execute_sparql\n```sparql\n" + q + "\n```", "x", actExecute, q, false},
		{"query without its bracket", "Thought: x\nAction: execute_sparql(" + q, "x", actExecute, q, false},
		{"bracket in a comment of the query", "Thought: x\nAction: execute_sparql(SELECT ?x { # :) it's odd\n ?x ?p 1 })", "x", actExecute, "SELECT ?x { # :) it's odd\n ?x ?p 1 }", false},
		{"bracket in a string of the query", "Thought: x\nAction: execute_sparql(SELECT ?x { ?x ?p \")\" })", "x", actExecute, "SELECT ?x { ?x ?p \")\" }", false},
		{"hash in an address of the query", "Thought: x\nAction: execute_sparql(SELECT ?x { ?x a <http://a/b#c> })", "x", actExecute, "SELECT ?x { ?x a <http://a/b#c> }", false},
		{"words behind it", "Thought: x\nAction: search_wikidata(Danube)\n\nI will wait for the result.", "x", actSearch, "Danube", false},
		{"invented observation", "Thought: x\nAction: search_wikidata(Danube)\nObservation: Danube (Q1653)\nThought: done\nAction: stop()", "x", actSearch, "Danube", true},
		{"several actions", "Thought: x\nAction: search_wikidata(a)\nAction: search_wikidata(b)", "x", actSearch, "a", true},
		{"several actions, one label", "Thought: x\nAction: search_wikidata(a)\nsearch_wikidata(b)", "x", actSearch, "a", true},
		{"bold labels", "**Thought:** x\n\n**Action:** search_wikidata(a)", "x", actSearch, "a", false},
		{"numbered labels", "Thought 3: x\nAction 3: search_wikidata(a)", "x", actSearch, "a", false},
		{"label on its own line", "Thought: x\nAction:\n  get_wikidata_entry(Q1)", "x", actEntry, "Q1", false},
		{"no labels", "I should look.\nsearch_wikidata(\"a\")", "I should look.", actSearch, "a", false},
		{"action in backticks", "Thought: x\nAction: `search_wikidata(a)`", "x", actSearch, "a", false},
		{"thought of many lines", "Thought: one\ntwo\n\nAction: stop()", "one\ntwo", actStop, "", false},
		{"an observation recalled in the thought", "Thought: x\nObservation: nothing so far\nAction: stop()", "x\nnothing so far", actStop, "", false},
		{"upper-case name", "Thought: x\nAction: Search_Wikidata(a)", "x", actSearch, "a", false},
		{"stop without brackets", "Thought: x\nAction: stop", "x", actStop, "", false},
		{"stop with a word", "Thought: x\nAction: stop(done)", "x", actStop, "", false},
		{"stop on a step", "Thought: x\nAction: stop(step 5)", "x", actStop, "step 5", false},
		{"stop on a step, in words", "Thought: x\nAction: stop(\"Step #12: the count\")", "x", actStop, "step 12", false},
		{"stop on a bare number", "Thought: x\nAction: stop(3)", "x", actStop, "step 3", false},
		{"stop on the placeholder", "Thought: x\nAction: stop(step N)", "x", actStop, "", false},
		{"stop with a number of something else", "Thought: x\nAction: stop(16 countries were found)", "x", actStop, "", false},
		{"stop without an answer", "Thought: x\nAction: stop(no answer: the graph has no such statements)", "x", actStop, "no answer: the graph has no such statements", false},
		{"stop without an answer, quoted", "Thought: x\nAction: stop(\"No answer - none\")", "x", actStop, "no answer: none", false},
		{"JSON", `{"thought": "x", "action": "search_wikidata", "argument": "a"}`, "x", actSearch, "a", false},
		{"JSON in a fence, other keys", "```json\n{\"thought\": \"x\", \"action_name\": \"execute_sparql\", \"action_argument\": \"ASK {}\"}\n```", "x", actExecute, "ASK {}", false},
		{"JSON with a call", `{"thought": "x", "action": "search_wikidata(a)"}`, "x", actSearch, "a", false},
		{"a reasoning model's notes", "<think>Action: stop()\n</think>\nThought: x\nAction: search_wikidata(a)", "x", actSearch, "a", false},
		{"windows line ends", "Thought: x\r\nAction: search_wikidata(a)\r\n", "x", actSearch, "a", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseTurn(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.thought != tt.thought || got.action.name != tt.action || got.action.argument != tt.ar || got.more != tt.more {
				t.Errorf("got thought %q, %s(%s), more %v", got.thought, got.action.name, got.action.argument, got.more)
			}
		})
	}
}

func TestParseTurnUnreadable(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "bad_empty",
		" \n ":                         "bad_empty",
		"The answer is 42.":            "bad_no_action",
		"Thought: I know it":           "bad_no_action",
		"Thought: x\nAction:":          "bad_no_action",
		"```sparql\nSELECT ?x {}\n```": "bad_no_action",
		"Thought: x\nAction: browse(http://127.0.0.1/)": "bad_name",
		"Thought: x\nAction: execute_sparql()":          "bad_argument",
		"Thought: x\nAction: search_wikidata(\"\")":     "bad_argument",
		`{"thought": "x", "action": "post"}`:            "bad_name",
	} {
		_, err := parseTurn(text)
		var bad *unreadable
		if !errors.As(err, &bad) || bad.text != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
			continue
		}
		if said := say(bad.text, bad.data); strings.Contains(said, "could not be written") || strings.Contains(said, "<no value>") {
			t.Errorf("%q: the model is told %q", text, said)
		}
	}
}

// FuzzParseTurn: no text breaks the reader; what it reads is one of the five actions, with an argument where one is needed, and valid text; and an action written as asked
// is read back as it was.
func FuzzParseTurn(f *testing.F) {
	f.Add("Thought: x\nAction: execute_sparql(SELECT ?x { ?x ?p \"a)\" } # )\n)")
	f.Add("Action: ((((```'''\"\"\"")
	f.Add("**Action:** stop(no answer: \x00)")
	f.Add(`{"action": {"a": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTurn(text)
		if err != nil {
			var bad *unreadable
			if !errors.As(err, &bad) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		a := got.action
		if a.name != actStop && a.argument == "" {
			t.Errorf("%s without an argument", a.name)
		}
		if utf8.ValidString(text) && !utf8.ValidString(a.argument+got.thought) {
			t.Errorf("invalid text in %q", a.argument)
		}
		if a.name == actSearch && strings.Trim(a.argument, "()\"'`“”„«»: \t\n") == a.argument && !strings.ContainsAny(a.argument, "()\n\"'`“”„«»") &&
			strings.TrimSpace(labelLine.ReplaceAllString(a.argument, "")) == a.argument {
			again, err := parseTurn("Thought: x\nAction: search_wikidata(" + a.argument + ")")
			if err != nil || again.action != a {
				t.Errorf("%q is read back as %q, %v", a.argument, again.action.argument, err)
			}
		}
	})
}

package protocol

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

var spinach, _ = tool.Select([]string{tool.SearchName, tool.EntryName, tool.ExamplesName, tool.ExecuteName,
	tool.StopName})

func read(text string) (Turn, *Problem) {
	return Text{}.Read(llm.Choice{Content: text, FinishReason: "stop"}, spinach)
}

func TestReadText(t *testing.T) {
	const q = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . FILTER(STRLEN(STR(?x)) < 50) }"
	tests := []struct {
		name, text          string
		thought, action, ar string
		more                bool
	}{
		{"as asked", "Thought: look\nAction: search_wikidata(Danube)", "look", tool.SearchName, "Danube", false},
		{"double quotes", "Thought: look\nAction: search_wikidata(\"Danube\")", "look", tool.SearchName, "Danube", false},
		{"single quotes with an apostrophe", "Thought: x\nAction: search_wikidata('Schindler's List')", "x", tool.SearchName,
			"Schindler's List", false},
		{"bare apostrophe", "Thought: x\nAction: search_wikidata(Schindler's List)", "x", tool.SearchName, "Schindler's List",
			false},
		{"curly quotes", "Thought: x\nAction: search_wikidata(“Danube”)", "x", tool.SearchName, "Danube", false},
		{"triple quotes", "Thought: x\nAction: execute_sparql(\"\"\"" + q + "\"\"\")", "x", tool.ExecuteName, q, false},
		{"parentheses", "Thought: x\nAction: search_wikidata(Mercury (planet))", "x", tool.SearchName, "Mercury (planet)",
			false},
		{"parenthesis closed in quotes", `Thought: x` + "\n" + `Action: search_wikidata("smile :)")`, "x", tool.SearchName,
			"smile :)", false},
		{"closing parenthesis missing", "Thought: x\nAction: search_wikidata(Danube", "x", tool.SearchName, "Danube", false},
		{"no parentheses", "Thought: x\nAction: search_wikidata Danube", "x", tool.SearchName, "Danube", false},
		{"colon, no parentheses", "Thought: x\nAction: get_wikidata_entry: Q1653", "x", tool.EntryName, "Q1653", false},
		{"query", "Thought: x\nAction: execute_sparql(" + q + ")", "x", tool.ExecuteName, q, false},
		{"query on many lines", "Thought: x\nAction: execute_sparql(\n" + q + "\nLIMIT 5\n)", "x", tool.ExecuteName, q +
			"\nLIMIT 5", false},
		{"query in a fence in brackets", "Thought: x\nAction: execute_sparql(\n```sparql\n" + q + "\n```\n)", "x",
			tool.ExecuteName, q, false},
		{"everything in a fence", "Thought: x\nAction:\n```\nexecute_sparql(" + q + ")\n```", "x", tool.ExecuteName, q,
			false},
		{"query in a fence without brackets", "Thought: x\nAction: execute_sparql\n```sparql\n" + q + "\n```", "x",
			tool.ExecuteName, q, false},
		{"query without its bracket", "Thought: x\nAction: execute_sparql(" + q, "x", tool.ExecuteName, q, false},
		{"bracket in a comment of the query", "Thought: x\nAction: execute_sparql(SELECT ?x { # :) it's odd\n ?x ?p 1 })",
			"x", tool.ExecuteName, "SELECT ?x { # :) it's odd\n ?x ?p 1 }", false},
		{"bracket in a string of the query", "Thought: x\nAction: execute_sparql(SELECT ?x { ?x ?p \")\" })", "x",
			tool.ExecuteName, "SELECT ?x { ?x ?p \")\" }", false},
		{"hash in an address of the query", "Thought: x\nAction: execute_sparql(SELECT ?x { ?x a <http://a/b#c> })", "x",
			tool.ExecuteName, "SELECT ?x { ?x a <http://a/b#c> }", false},
		{"text after it", "Thought: x\nAction: search_wikidata(Danube)\n\nI will wait for the result.", "x",
			tool.SearchName, "Danube", false},
		{"invented observation", "Thought: x\nAction: search_wikidata(Danube)\nObservation: Danube (Q1653)\nThought: done\nAction: stop()", "x", tool.SearchName, "Danube", true},
		{"several actions", "Thought: x\nAction: search_wikidata(a)\nAction: search_wikidata(b)", "x", tool.SearchName, "a",
			true},
		{"several actions, one label", "Thought: x\nAction: search_wikidata(a)\nsearch_wikidata(b)", "x", tool.SearchName,
			"a", true},
		{"bold labels", "**Thought:** x\n\n**Action:** search_wikidata(a)", "x", tool.SearchName, "a", false},
		{"numbered labels", "Thought 3: x\nAction 3: search_wikidata(a)", "x", tool.SearchName, "a", false},
		{"label on its own line", "Thought: x\nAction:\n  get_wikidata_entry(Q1)", "x", tool.EntryName, "Q1", false},
		{"no labels", "I should look.\nsearch_wikidata(\"a\")", "I should look.", tool.SearchName, "a", false},
		{"action in backticks", "Thought: x\nAction: `search_wikidata(a)`", "x", tool.SearchName, "a", false},
		{"thought with many lines", "Thought: one\ntwo\n\nAction: stop()", "one\ntwo", tool.StopName, "", false},
		{"an observation recalled in the thought", "Thought: x\nObservation: nothing so far\nAction: stop()",
			"x\nnothing so far", tool.StopName, "", false},
		{"upper-case name", "Thought: x\nAction: Search_Wikidata(a)", "x", tool.SearchName, "a", false},
		{"stop without parentheses", "Thought: x\nAction: stop", "x", tool.StopName, "", false},
		{"stop with a word", "Thought: x\nAction: stop(done)", "x", tool.StopName, "", false},
		{"stop on a step", "Thought: x\nAction: stop(step 5)", "x", tool.StopName, "step 5", false},
		{"stop on a step, in words", "Thought: x\nAction: stop(\"Step #12: the count\")", "x", tool.StopName, "step 12",
			false},
		{"stop on a bare number", "Thought: x\nAction: stop(3)", "x", tool.StopName, "step 3", false},
		{"stop on the placeholder", "Thought: x\nAction: stop(step N)", "x", tool.StopName, "", false},
		{"stop with a number of something else", "Thought: x\nAction: stop(16 countries were found)", "x", tool.StopName, "",
			false},
		{"stop without an answer", "Thought: x\nAction: stop(no answer: the graph has no such statements)", "x",
			tool.StopName, "no answer: the graph has no such statements", false},
		{"stop without an answer, quoted", "Thought: x\nAction: stop(\"No answer - none\")", "x", tool.StopName,
			"no answer: none", false},
		{"JSON", `{"thought": "x", "action": "search_wikidata", "argument": "a"}`, "x", tool.SearchName, "a", false},
		{"JSON in a fence, other keys", "```json\n{\"thought\": \"x\", \"action_name\": \"execute_sparql\", \"action_argument\": \"ASK {}\"}\n```", "x", tool.ExecuteName, "ASK {}", false},
		{"JSON with a call", `{"thought": "x", "action": "search_wikidata(a)"}`, "x", tool.SearchName, "a", false},
		{"a reasoning model's notes", "<think>Action: stop()\n</think>\nThought: x\nAction: search_wikidata(a)", "x",
			tool.SearchName, "a", false},
		{"Windows line endings", "Thought: x\r\nAction: search_wikidata(a)\r\n", "x", tool.SearchName, "a", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, p := read(tt.text)
			if p != nil {
				t.Fatal(p)
			}
			if c := got.Calls[0]; got.Thought != tt.thought || c.Tool.Name != tt.action || c.Shown != tt.ar ||
				got.More != tt.more || c.Tool.Check(c.Args) != nil {
				t.Errorf("got thought %q, %s(%s), arguments %s, more %v", got.Thought, c.Tool.Name, c.Shown, c.Args, got.More)
			}
		})
	}
}

func TestReadTextUnreadable(t *testing.T) {
	for text, want := range map[string]Kind{
		"":                             Empty,
		" \n ":                         Empty,
		"The answer is 42.":            NoAction,
		"Thought: I know it":           NoAction,
		"Thought: x\nAction:":          NoAction,
		"```sparql\nSELECT ?x {}\n```": NoAction,
		"Thought: x\nAction: browse(http://127.0.0.1/)": NoTool,
		"Thought: x\nAction: execute_sparql()":          NoArgument,
		"Thought: x\nAction: search_wikidata(\"\")":     NoArgument,
		`{"thought": "x", "action": "post"}`:            NoTool,
	} {
		_, p := read(text)
		if p == nil || p.Kind != want {
			t.Errorf("%q: got %v, want %s", text, p, want)
			continue
		}
		if said := p.Message; strings.Contains(said, "could not be written") || strings.Contains(said, "<no value>") {
			t.Errorf("%q: the model is told %q", text, said)
		}
	}
}

// FuzzReadText checks that no input crashes the parser, and that anything it accepts is one of the five actions, in
// valid UTF-8, with an argument if one is required. An action in canonical form must be parsed unchanged.
func FuzzReadText(f *testing.F) {
	f.Add("Thought: x\nAction: execute_sparql(SELECT ?x { ?x ?p \"a)\" } # )\n)")
	f.Add("Action: ((((```'''\"\"\"")
	f.Add("**Action:** stop(no answer: \x00)")
	f.Add(`{"action": {"a": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, p := read(text)
		if p != nil {
			return
		}
		a := got.Calls[0]
		if a.Tool.Name != tool.StopName && a.Shown == "" {
			t.Errorf("%s without an argument", a.Tool.Name)
		}
		if utf8.ValidString(text) && !utf8.ValidString(a.Shown+got.Thought) {
			t.Errorf("invalid text in %q", a.Shown)
		}
		if a.Tool.Name == tool.SearchName && strings.Trim(a.Shown, "()\"'`“”„«»: \t\n") == a.Shown &&
			!strings.ContainsAny(a.Shown, "()\n\"'`“”„«»") &&
			strings.TrimSpace(labelLine.ReplaceAllString(a.Shown, "")) == a.Shown {
			again, p := read("Thought: x\nAction: search_wikidata(" + a.Shown + ")")
			if p != nil || again.Calls[0].Shown != a.Shown || again.Calls[0].Tool != a.Tool {
				t.Errorf("%q is read back as %+v, %v", a.Shown, again, p)
			}
		}
	})
}

func TestLabels(t *testing.T) {
	for _, text := range []string{"", "\n", "Action: x", "x Action: x", "Thought: a\n\n**Action 3:** b\nObservation:", "\n> - ACTION :\t_x\r\n" +
		"thought 12 * : y\nAction\n: z", "Action: Action: x\nno\n action:"} {
		got, want := slices.Collect(labels(text)), labelLine.FindAllStringSubmatchIndex(text, -1)
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

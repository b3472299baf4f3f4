package preset

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/render"
)

// TestBuiltin checks that every built-in preset can be read and has both a one-line and a long help text.
func TestBuiltin(t *testing.T) {
	for _, name := range Names() {
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.About == "" || p.Long == "" || len(p.Policies) == 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if _, err := Named("spinch"); err == nil || !strings.Contains(err.Error(), "spinach") {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestSpinach compares the preset with the figures published in the SPINACH paper, sections 4.1 and 4.2 and appendix D.
// These figures must not be changed.
func TestSpinach(t *testing.T) {
	p := Default()
	if p.Limits != (Limits{15, 30, 4}) || p.Sampling.Temperature != 1 ||
		p.Sampling.TopP != 0.9 || p.Sampling.MaxTokens != 2000 || !reflect.DeepEqual(p.Rules, Rules{Repeat: "restore", Stop: "restore",
		NoAction: "nudge", TrimLimit: true, Count: true, Guard: "name"}) ||
		p.Show.Rows != (render.Window{Whole: 10, Head: 5, Tail: 5}) ||
		p.Show.Items != 8 || p.Show.Properties != 4 || p.Protocol != "text" || len(p.Tools) != 5 ||
		p.Policies[0] != "linear" {
		t.Errorf("%+v", p)
	}
}

// TestTextsKnowTheNumbers checks that the numbers in the prompts come from the preset.
func TestTextsKnowTheNumbers(t *testing.T) {
	p := Default()
	p.Show.Items, p.Show.Properties, p.Show.Rows = 71, 72, render.Window{Whole: 75, Head: 73, Tail: 74}
	sys := p.System(Situation{Counted: 15})
	for _, want := range append([]string{"71 items", "72 properties",
		"of more than 75 rows the first 73 and the last 74", "You have at most 15 steps",
		`"[AUTO_LANGUAGE],mul,en"`, "no secret"}, p.Tools...) {
		if !strings.Contains(sys, want) {
			t.Errorf("%q is missing in:\n%s", want, sys)
		}
	}
}

// TestOpen checks that a user's preset can be read from its file and that mistakes in it are reported.
func TestOpen(t *testing.T) {
	good, err := builtin.ReadFile("spinach/preset.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"good", "", "", ""},
		{"a key that does not exist", `"tools"`, `"tool"`, "is unknown"},
		{"a tool that does not exist", `"execute_sparql"`, `"run_sparql"`, `no tool "run_sparql"`},
		{"a protocol that does not exist", `"text"`, `"morse"`, `no protocol "morse"`},
		{"no end", `, "stop"`, ``, `"stop"`},
		{"no prompt", `"name": "spinach"`, `"name": ""`, `"name" is empty`},
		{"rows that do not fit", `"whole": 10`, `"whole": 3`, "show.rows"},
		{"rows below 0", `"tail": 5`, `"tail": -5`, `"show" is below 0`},
		{"hits below 0", `"items": 8`, `"items": -8`, `"show" is below 0`},
		{"a limit below 0", `"counted": 15`, `"counted": -15`, `"limits" is below 0`},
		{"a rule that does not exist", `"repeat": "restore"`, `"repeat": "shout"`, `"repeat" is "shout"`},
		{"a temperature below 0", `"temperature": 1.0`, `"temperature": -4`, `"sampling" is below 0`},
		{"more after the end", "\"report\": true\n}", "\"report\": true\n} x", "after the JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range []string{"act.tmpl", "prune.tmpl", "extract.tmpl", "report.tmpl"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, "mine.json")
			if err := os.WriteFile(path, []byte(strings.Replace(string(good), tt.old, tt.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := Open(path)
			if tt.want == "" && (err != nil || p.System(Situation{Counted: 15}) != "x") {
				t.Errorf("%v", err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), "mine.json")) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("no error for a missing file")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.json"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "p.json")); err == nil ||
		!strings.Contains(err.Error(), "its folder does not contain *.tmpl") {
		t.Errorf("no prompts: %v", err)
	}
	for _, f := range []string{"act.tmpl", "prune.tmpl", "extract.tmpl", "report.tmpl"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(`{{index .Tools 9999999}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(filepath.Join(dir, "p.json")); err == nil || !strings.Contains(err.Error(), "act.tmpl") {
		t.Errorf("for a prompt that cannot be rendered: %v", err)
	}
}

// TestGrasp compares the presets with the figures in the GRASP paper, sections 3.2, 3.3 (table 1) and 4.1, and in its
// program: the function sets, the sampling parameters, 200 messages, and ten rows, columns, hits and examples.
func TestGrasp(t *testing.T) {
	base := "answer cancel execute"
	search := base + " list search_entity search_property"
	extended := search + " search_property_of_entity search_object_of_property"
	shapes := base + " list search_shape get_shape"
	for name, want := range map[string]string{
		"grasp-base": base, "grasp-search": search, "grasp": extended, "grasp-f": extended,
		"grasp-autocomplete": base + " list search_autocomplete", "grasp-constrained": base + " list search_constrained",
		"grasp-similar": extended + " find_similar_examples", "grasp-random": extended + " find_examples",
		"grasp-filter": shapes + " search", "grasp-constraints": shapes + " search_constrained search_literal",
		"grasp-all":     extended + " search_literal search_constrained search_autocomplete search search_shape get_shape search_example get_random_examples",
		"grasp-general": strings.Replace(strings.Replace(extended, "answer", "answer_text", 1), "cancel", "cancel_text", 1),
	} {
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Tools, " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if p.Protocol != "native" || p.Parallel || p.Sampling.Temperature != 0.2 || p.Sampling.TopP != 0.9 ||
			p.Sampling.MaxTokens != 16384 ||
			p.Rules.Messages != 200 || p.Limits.Counted != 100 || p.Rules.Guard != GuardOff || !p.Rules.Salvage ||
			p.Show.Rows != (render.Window{Whole: 10, Head: 5, Tail: 5}) || p.Show.Columns != 10 || p.Show.Hits != 10 ||
			p.Show.Cell != 64 ||
			p.Show.Examples != 3 || p.Notes.N != 16 || p.Report || p.Extract {
			t.Errorf("%s: %+v", name, p)
		}
		if want := map[string]int{"grasp-f": 2}[name]; p.Feedback.Rounds != want {
			t.Errorf("%s: %d rounds of feedback, want %d", name, p.Feedback.Rounds, want)
		}
		today := slices.Contains([]string{"grasp-filter", "grasp-constraints", "grasp-all"}, name)
		if (p.Rules.Repeat == RepeatLoop) != today {
			t.Errorf("%s: repeat %s", name, p.Rules.Repeat)
		}
	}
}

func TestNoteTaker(t *testing.T) {
	if p := NoteTaker(); p.Toolset().Find("add_note") == nil || slices.Contains(Names(), p.Name) {
		t.Errorf("%+v", p)
	}
}

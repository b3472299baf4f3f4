package preset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/render"
)

// TestBuiltin: every preset of the program can be read, and has one line and a long text for help.
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

// TestSpinach holds the published figures: the SPINACH paper, sections 4.1 and 4.2, appendix D. No finding of ours
// may change them.
func TestSpinach(t *testing.T) {
	p := Default()
	if p.Limits != (Limits{15, 30, 4}) || p.Sampling.Temperature != 1 ||
		p.Sampling.TopP != 0.9 || p.Sampling.MaxTokens != 2000 || p.Rules != (Rules{Repeat: "restore", Stop: "restore",
		NoAction: "nudge", TrimLimit: true, Count: true, Guard: "name"}) ||
		p.Show.Rows != (render.Window{Whole: 10, Head: 5, Tail: 5}) ||
		p.Show.Items != 8 || p.Show.Properties != 4 || p.Protocol != "text" || len(p.Tools) != 5 ||
		p.Policies[0] != "linear" {
		t.Errorf("%+v", p)
	}
}

// TestTextsKnowTheNumbers: the numbers in the prompts are those of the preset.
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

// TestOpen: a preset of one's own is read from its file, and what is wrong with it is said.
func TestOpen(t *testing.T) {
	good, err := builtin.ReadFile("spinach/preset.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"good", "", "", ""},
		{"a key that does not exist", `"tools"`, `"tool"`, "unknown field"},
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
		{"more after the end", "\"report\": true\n}", "\"report\": true\n} x", "after its end"},
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
		t.Error("no file, no error")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.json"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "p.json")); err == nil {
		t.Error("no prompts, no error")
	}
	for _, f := range []string{"act.tmpl", "prune.tmpl", "extract.tmpl", "report.tmpl"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(`{{index .Tools 9999999}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(filepath.Join(dir, "p.json")); err == nil || !strings.Contains(err.Error(), "act.tmpl") {
		t.Errorf("a prompt that cannot be written: %v", err)
	}
}

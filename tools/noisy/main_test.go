package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The graph has two capitals, and a town that is not a capital.
const facts = `
<http://www.wikidata.org/entity/Q183> <http://www.wikidata.org/prop/direct/P36> <http://www.wikidata.org/entity/Q64> .
<http://www.wikidata.org/entity/Q142> <http://www.wikidata.org/prop/direct/P36> <http://www.wikidata.org/entity/Q90> .
<http://www.wikidata.org/entity/Q183> <http://www.w3.org/2000/01/rdf-schema#label> "Germany"@en .
`

const questions = `{"id": "a", "question": "The capital of Germany?", "sparql": "SELECT ?c { wd:Q183 wdt:P36 ?c }"}
{"id": "b", "question": "The capital of France?", "sparql": "SELECT ?c { wd:Q142 wdt:P36 ?c }"}
{"id": "c", "question": "The capital of France?", "sparql": "SELECT ?c { wd:Q183 wdt:P36 ?c }"}
{"id": "d", "question": "The capital of Mars?", "sparql": "SELECT ?c { wd:Q111 wdt:P36 ?c }"}
{"id": "e", "question": "The oldest capital of Mars?", "sparql": "SELECT (MIN(?c) AS ?m) { wd:Q111 wdt:P36 ?c }"}
`

// play runs the command on the small graph and returns its output.
func play(t *testing.T, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"g.nt": facts, "q.jsonl": questions, "except.json": `{"mine": ["a"]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "DIR", dir)
	}
	var b bytes.Buffer
	err := command(t.Context(), &b, append(args, filepath.Join(dir, "g.nt"), filepath.Join(dir, "q.jsonl")))
	return b.String(), err
}

// TestTable checks that reserved questions, duplicate questions, and questions without rows or values are not asked.
// The reader without mistakes is always right. The same flags produce the same table.
func TestTable(t *testing.T) {
	out, err := play(t, "table", "-systems", "bare,grasp/linear", "-profiles", "perfect,confused")
	if err != nil || !strings.HasPrefix(out, "2 questions, 3 seeds") || strings.Count(out, "100.0–100.0  100.0") < 2 {
		t.Errorf("%v\n%s", err, out)
	}
	if again, _ := play(t, "table", "-systems", "bare,grasp/linear", "-profiles", "perfect,confused"); again != out {
		t.Errorf("another time:\n%s", again)
	}
	if out, err = play(t, "table", "-except", "DIR/except.json:mine", "-profiles", "perfect", "-systems",
		"bare"); err != nil || !strings.HasPrefix(out, "1 questions") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, tt := range [][]string{{"table", "-systems", "grasp/nowhere"}, {"table", "-right", "2"},
		{"table", "-profiles", "sober"}, {"table", "-except", "DIR/except.json:yours"}, {"runs"}, {"dance"}, {}} {
		if out, err := play(t, tt...); err == nil {
			t.Errorf("%v: no error\n%s", tt, out)
		}
	}
}

// TestRuns checks that the runs are folders that the program's commands can read, with a trajectory for each question.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	out, err := play(t, "runs", "-out", dir, "-systems", "bare", "-profiles", "perfect", "-seeds", "1")
	if err != nil || !strings.Contains(out, "2 items\tF1 100.0") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"results.jsonl", "summary.json", "trajectories/a.jsonl", "trajectories/b.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, "bare_perfect_q0.8_s0", name)); err != nil {
			t.Error(err)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
)

// A run whose use of IDs was determined by hand: P37 is used and shown both on the item's line and in the list of
// properties, Q41 is shown only in a row, and P1083 only at the second position in the list; Q7 is never used, P17 is
// known, and Q40 is in the question.
func TestUsed(t *testing.T) {
	dir := t.TempDir()
	f, err := event.Create(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	step := func(action, argument, observation string) event.Event {
		return event.Event{Event: "step", Step: &event.Step{Action: action, Argument: argument, Observation: observation}}
	}
	for _, e := range []event.Event{
		{Event: "start", Format: event.Format, Preset: "best", Question: &event.Question{Text: "Capital of Q40?"}},
		step("look_up_question", "{}", "Tarland (Q40), country\n  P37 capital: Tarburg (Q7), P17 country: Q40\n"+
			"Properties:\n  P37 capital (item, 3 uses): seat\n  P1083 population (quantity, 9 uses): people"),
		step("query", `{"sparql":"SELECT ?c WHERE { wd:Q40 wdt:P37 ?c }"}`, "1 row\nc\nTarburg (Q41)"),
		step("query", `{"sparql":"SELECT ?n WHERE { wd:Q41 wdt:P1083 ?n }"}`, "1 row\nn\n5"),
		{Event: "end"},
	} {
		if err := f.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := command(&out, []string{dir}); err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		if name, rest, ok := strings.Cut(line, ": "); ok {
			fields := strings.Fields(rest)
			i := 0
			for ; i < len(fields) && (fields[i][0] < '0' || fields[i][0] > '9'); i++ {
				name += " " + fields[i]
			}
			rows[strings.TrimSpace(name)] = fields[i:]
		}
	}
	// runs, entries, longest list, share of bytes, IDs, used, only here, needed at 1, at 2
	for part, want := range map[string]string{
		"look_up_question properties": "1 2 2 * 2 2 1 0 1", "query rows": "1 2 1 * 1 1 1 1 0",
		"look_up_question values of things": "1 1 1 * 2 1 0 0 0",
	} {
		got := rows[part]
		if len(got) < 9 {
			t.Errorf("%s: no row in\n%s", part, out.String())
			continue
		}
		got = append([]string{}, got[:9]...)
		got[3] = "*"
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", part, s, want)
		}
	}
	if err := command(&out, []string{t.TempDir()}); err == nil {
		t.Error("no runs, no error")
	}
}

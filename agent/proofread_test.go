package agent

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// TestProofread checks that the model can change every text of a reply, and that nothing that it writes reaches the
// reply unless it is supported.
func TestProofread(t *testing.T) {
	type texts struct{ Short, Assumed, Open, Header string }
	const finish = `finish {"columns": ["city"], "headers": ["city"], "answer": "Tarburg is the capital.", "assumed": "Tarland is meant.", "open": "No river is named."}`
	first := texts{"Tarburg is the capital.", "Tarland is meant.", "No river is named.", "city"}
	for _, tt := range []struct {
		name   string
		finish string
		turns  []string // of the model after finish
		want   texts
		calls  []string // their purposes
	}{
		{"everything", finish, []string{`{"answer": "The capital is Tarburg.", "assumed": "", "open": "The data has no river.", "headers":{"city": "Capital", "river": "River"}}`},
			texts{"The capital is Tarburg.", "", "The data has no river.", "Capital"}, []string{"proofread"}},
		{"only headers", finish, []string{`{"headers":{"city": "Capital"}}`}, texts{first.Short, first.Assumed, first.Open, "Capital"}, []string{"proofread"}},
		{"nothing at all", finish, []string{"{}"}, first, []string{"proofread"}},
		{"nothing", finish, []string{`{"answer": "Tarburg is the capital."}`}, first, []string{"proofread"}},
		{"garbage", finish, []string{"It is fine."}, first, []string{"proofread"}},
		{"no answer", finish, []string{`{"answer": " ", "assumed": "", "open": ""}`}, first, []string{"proofread"}},
		{"other types", finish, []string{`{"answer": "The capital is Tarburg.", "assumed": 3, "open": null, "headers":["x"]}`},
			texts{"The capital is Tarburg.", first.Assumed, first.Open, "city"}, []string{"proofread"}},
		{"failure", finish, nil, first, []string{"proofread"}},
		{"a new fault is corrected", finish, []string{`{"answer": "The capital is Ruritania."}`, "The capital is Tarburg."},
			texts{"The capital is Tarburg.", first.Assumed, first.Open, "city"}, []string{"proofread", "correct"}},
		{"a new fault stays", finish, []string{`{"answer": "The capital is Ruritania.", "open": "It has 7 rivers."}`, "It is Freedonia.", "It has 8."},
			first, []string{"proofread", "correct", "correct"}},
		{"echoes", finish, []string{`{"answer": "…", "assumed": "unchanged", "open": "(none)", "headers":{"city": "header"}}`}, first, []string{"proofread"}},
		{"a fault stays", strings.ReplaceAll(finish, "Tarburg is", "Tarburg and Ruritania are"),
			[]string{`{"answer": "Tarburg is the capital. Ruritania is the capital."}`, "Ruritania is the capital."}, first, []string{"proofread", "correct"}},
		{"a long header", finish, []string{`{"answer": "Tarburg is the capital.", "headers":{"city": "` + strings.Repeat("c", 41) + `"}}`},
			first, []string{"proofread"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &turnModel{turns: append([]string{capital, tt.finish}, tt.turns...)}
			e := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: best(t), Faithful: true, Proofread: true})
			out, err := e.Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, &memory{}, Limits{})
			if err != nil || out.Answer == nil {
				t.Fatalf("%v %+v", err, out)
			}
			a := out.Answer
			if d := cmp.Diff(tt.want, texts{out.Short, a.Assumed, a.Open, a.Headers["city"]}); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.calls, purposes(m.requests[2:])); d != "" {
				t.Error(d)
			}
		})
	}
}

func purposes(requests []llm.Request) []string {
	var out []string
	for _, r := range requests {
		out = append(out, r.Purpose)
	}
	return out
}

// TestProofreadShown checks what the model is shown: the steps, the rows, its own texts, and what is wrong with them.
func TestProofreadShown(t *testing.T) {
	m := &turnModel{turns: []string{capital,
		`finish {"columns": ["city"], "answer": "Tarburg. It has 9 rivers.", "assumed": "It is not Ruritania.", "open": "Lakes are missing."}`,
		`{"answer": "Tarburg."}`}}
	e := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: best(t), Faithful: true, Proofread: true})
	if _, err := e.Ask(t.Context(), Question{Text: hostile, Language: "fr"}, &memory{}, Limits{}); err != nil {
		t.Fatal(err)
	}
	req := m.requests[2]
	if !req.JSON || !strings.Contains(req.Messages[0].Content, "It is natural French") {
		t.Errorf("%v %s", req.JSON, req.Messages[0].Content)
	}
	got := req.Messages[1].Content
	for _, want := range []string{"Step 2: query(", "Tarburg (Q41)", "answer: Tarburg. It has 9 rivers.\nassumed: It is not Ruritania.\nopen: Lakes are missing.\n",
		"header of the column city: (none yet)", "- figure: 9 (not in", "- name: Ruritania (not in"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Count(got, "</question>") != 1 || strings.Contains(got, "<no value>") {
		t.Error(got)
	}
}

// TestAskedOnce checks that the model is not asked twice about the same unsupported claim: not again after it has
// proofread its reply.
func TestAskedOnce(t *testing.T) {
	for second, want := range map[string]int{
		`{}`: 0, // the sentence that the model was told about is left out
		`{"answer": "Tarburg. It has nine rivers and 9 lakes."}`: 1, // "nine" is new
		"???": 1, // the model did not say whether it read the faults
	} {
		m := &turnModel{turns: []string{capital, `finish {"columns": ["city"], "answer": "Tarburg. It has 9 rivers."}`, second, "Tarburg."}}
		e := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: best(t), Faithful: true, Proofread: true})
		out, err := e.Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, &memory{}, Limits{})
		if err != nil || out.Short != "Tarburg." {
			t.Errorf("%s: %v %q", second, err, out.Short)
		}
		corrections := 0
		for _, p := range purposes(m.requests) {
			if p == "correct" {
				corrections++
			}
		}
		if corrections != want {
			t.Errorf("%s: %d corrections, want %d: %v", second, corrections, want, purposes(m.requests))
		}
	}
}

// TestProofreadWithoutAnswer checks that the text that says that there is no answer is proofread, too.
func TestProofreadWithoutAnswer(t *testing.T) {
	for second, want := range map[string]string{
		`{"answer": "The data has no rivers in Tarland."}`:   "The data has no rivers in Tarland.",
		`{"answer": "The data has no rivers in Ruritania."}`: "Tarland has no rivers.",
		"???": "Tarland has no rivers.",
	} {
		m := &turnModel{turns: []string{capital, `finish {"no_answer": true, "step": 2, "answer": "Tarland has no rivers."}`, second}}
		e := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: best(t), Faithful: true, Proofread: true})
		out, err := e.Ask(t.Context(), Question{Text: "Which rivers are in Tarland?"}, &memory{}, Limits{})
		if err != nil || out.Answer != nil || out.Report != want || out.Short != want {
			t.Errorf("%s: %v %q %q", second, err, out.Report, out.Short)
		}
		if got := m.requests[2].Messages[1].Content; !strings.Contains(got, "is posted below it:\n<observation>\nSELECT ?city") {
			t.Error(got)
		}
	}
}

// TestProofreadOnlyReplies checks that no call is made where no reply is written, as in a benchmark run, if the options
// do not ask for it, or after the last call that the limits allow.
func TestProofreadOnlyReplies(t *testing.T) {
	for _, tt := range []struct {
		opts   Options
		limits Limits
	}{{Options{Preset: best(t), Proofread: true}, Limits{}}, {Options{Preset: best(t), Faithful: true}, Limits{}},
		{Options{Preset: best(t), Faithful: true, Proofread: true}, Limits{Calls: 2}}} {
		m := &turnModel{turns: []string{capital, finished}}
		out, err := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), tt.opts).
			Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, &memory{}, tt.limits)
		if err != nil || out.Answer == nil || out.Short != "Tarburg." || slices.Contains(purposes(m.requests), "proofread") {
			t.Errorf("%v %+v %v", err, out, purposes(m.requests))
		}
	}
}

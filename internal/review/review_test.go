package review

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/console"
)

var look = policy.Look{Place: 3, Steps: []event.Step{{Observation: "a"}, {Observation: "b"}},
	Turn: "Thought: I look.\nAction: query(wd:Q1 wdt:P2 wd:Q12)", Unseen: []string{"P2"},
	Mentions: func(s string) (out []step.Mention) {
		for _, id := range []string{"Q1", "Q12", "P2"} {
			if strings.Contains(s, id) {
				out = append(out, step.Mention{Written: id, Key: id})
			}
		}
		return out
	}}

func typed(t *testing.T, l policy.Look, in string, change func(*Terminal)) (d policy.Decision, out string, err error) {
	t.Helper()
	var b strings.Builder
	term := &Terminal{Screen: console.New(&b, nil), In: bufio.NewReader(strings.NewReader(in)), By: "Ada"}
	if change != nil {
		change(term)
	}
	d, err = term.Review(t.Context(), l)
	return d, b.String(), err
}

// Every reply is either a decision or leads to another prompt. A typing mistake never loses what the user has typed.
func TestReview(t *testing.T) {
	for in, want := range map[string]policy.Decision{
		"\n":                             {Verdict: event.Accepted},
		"y\n":                            {Verdict: event.Accepted},
		"what?\n?\ng\naccept":            {Verdict: event.Accepted},
		"s it is not clear\n":            {Verdict: event.Skipped, Reason: "it is not clear"},
		"skip\nnot clear\n":              {Verdict: event.Skipped, Reason: "not clear"},
		"b\n":                            {Verdict: event.WentBack, To: 2},
		"b x\nb 3\nb 0\nb 1\n":           {Verdict: event.WentBack, To: 1},
		"e\n\n\n":                        {Verdict: event.Edited, Text: look.Turn},
		"e\nbetter\n\n":                  {Verdict: event.Edited, Text: "Thought: better\nAction: query(wd:Q1 wdt:P2 wd:Q12)"},
		"e\n\nquery(a\n  b)\n\n":         {Verdict: event.Edited, Text: "Thought: I look.\nAction: query(a\n  b)"},
		"Thought: x\nAction: stop()\n\n": {Verdict: event.Edited, Text: "Thought: x\nAction: stop()"},
		"action: stop()":                 {Verdict: event.Edited, Text: "action: stop()"},
	} {
		d, out, err := typed(t, look, in, nil)
		want.By = "Ada"
		if want.Verdict == event.Edited && strings.HasPrefix(in, "action") {
			if !errors.Is(err, policy.ErrLeft) { // the input ended before the empty line that ends a turn
				t.Errorf("%q: %v", in, err)
			}
			continue
		}
		if diff := cmp.Diff(want, d); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s\n%s", in, err, diff, out)
		}
	}
	for _, in := range []string{"", "q\n", "e\n", "e\nx\n", "s\n", "Thought: x\n", "?\n"} {
		if _, _, err := typed(t, look, in, nil); !errors.Is(err, policy.ErrLeft) {
			t.Errorf("%q: %v, want that the person left", in, err)
		}
	}
}

// TestCarried checks that the observation of a turn, or the reason why the turn was rejected, is shown immediately and
// only once.
func TestCarried(t *testing.T) {
	var b strings.Builder
	term := &Terminal{Screen: console.New(&b, nil), In: bufio.NewReader(strings.NewReader("\n\n")), By: "Ada"}
	first := look
	first.Place, first.Steps = 1, nil
	if _, err := term.Review(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	term.Carried([]event.Step{{Observation: "3 rows"}}, "that was\ndone before")
	if out := b.String(); !strings.HasSuffix(out, "   3 rows\nthe model is told: that was done before\n") {
		t.Errorf("%s", out)
	}
	second := look
	second.Place, second.Steps = 2, []event.Step{{Observation: "3 rows"}}
	if _, err := term.Review(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if out := b.String(); strings.Count(out, "3 rows") != 1 {
		t.Errorf("%s", out)
	}
}

// If the editor fails or its result is empty, nothing changes, and the user is asked again.
func TestEditor(t *testing.T) {
	answers := []string{"", " \n", "Thought: x\nAction: stop()\n"}
	d, out, err := typed(t, look, "e\ne\ne\ne\n", func(term *Terminal) {
		term.Gold = Gold{SPARQL: "ASK {}"}
		term.Edit = func(_ context.Context, text, below string) (string, error) {
			if text != look.Turn || !strings.Contains(below, "ASK {}") || !strings.Contains(below, "P2") {
				t.Errorf("the editor got %q and %q", text, below)
			}
			if answers[0] == "" {
				answers[0] = " "
				return "", errors.New("the editor vanished")
			}
			a := answers[0]
			answers = answers[1:]
			return a, nil
		}
	})
	if err != nil || d.Verdict != event.Edited || d.Text != "Thought: x\nAction: stop()" ||
		!strings.Contains(out, "vanished") || strings.Count(out, "nothing was changed") != 2 {
		t.Errorf("%v %+v\n%s", err, d, out)
	}
}

// Ctrl-C ends the wait immediately.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never, _ := io.Pipe()
	term := &Terminal{Screen: console.New(io.Discard, nil), In: bufio.NewReader(never)}
	if _, err := term.Review(ctx, look); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// IDs that the gold query uses are marked as whole words. IDs that have not been shown are listed.
func TestMark(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "wd:«Q1» wdt:«P2» wd:Q12"},
		{[]string{"FORCE_COLOR=1"}, "\x1b[32mQ1\x1b[0m wdt:\x1b[32mP2\x1b[0m wd:Q12"},
	} {
		var b strings.Builder
		term := &Terminal{Screen: console.New(&b, tt.environ), In: bufio.NewReader(strings.NewReader("a\n")),
			Gold: Gold{SPARQL: "ASK { wd:Q1 wdt:P2 ?x }"}}
		if _, err := term.Review(t.Context(), look); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); !strings.Contains(out, tt.want) || !strings.Contains(out, "not seen before: P2") {
			t.Errorf("%q:\n%q", tt.environ, out)
		}
	}
}

// Text from the model cannot control the terminal.
func TestHostile(t *testing.T) {
	const bad = "\x1b]0;title\x07\u202e\x00"
	l := look
	l.Turn, l.Problem, l.Unreadable, l.Unseen = bad, bad, bad, []string{bad, ""}
	l.Steps = []event.Step{{Observation: bad}}
	_, out, _ := typed(t, l, "a\n", func(term *Terminal) { term.Gold = Gold{SPARQL: bad, Answer: bad} })
	if strings.ContainsAny(out, "\x1b\x07\x00\u202e") {
		t.Errorf("%q", out)
	}
}

func TestFind(t *testing.T) {
	items := []dataset.Item{{ID: "1", Question: "Who?"}, {ID: "Who?", Question: "Where  is it?",
		SPARQL: "SELECT", Answers: []byte(`[{"a":{"type":"uri","value":"x"},"b":{"type":"literal","value":"y"}}]`)}}
	if it, err := Find(items, "Who?"); err != nil || it.ID != "Who?" {
		t.Errorf("an ID comes before a question: %+v %v", it, err)
	}
	it, err := Find(items, "where is it?")
	if g := GoldOf(it); err != nil || g.SPARQL != "SELECT" || g.Answer != "x  y" {
		t.Errorf("%+v %v", g, err)
	}
	if _, err := Find(items, "When?"); err == nil {
		t.Error("found what is not there")
	}
}

// Items in the right answer are shown with their names, in aligned columns. An item without a name is shown by its ID.
func TestGoldNamed(t *testing.T) {
	const q = `{"type":"uri","value":"http://www.wikidata.org/entity/`
	g := GoldOf(dataset.Item{ID: "1", SPARQL: "SELECT", Answers: []byte(`[{"a":` + q + `Q1"},"b":{"type":"literal","value":"5"}},` +
		`{"a":` + q + `Q23"},"b":` + q + `Q1"}}]`)})
	if d := cmp.Diff([]string{"Q1", "Q23"}, g.IDs()); d != "" {
		t.Error(d)
	}
	want := "High Tar (Q1)  5\nQ23            High Tar (Q1)"
	if got := g.Named(map[string]string{"Q1": "High\nTar"}).Answer; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if many := GoldOf(dataset.Item{Answers: []byte(`[` + strings.Repeat(`{"a":`+q+`Q1"}},`, 11) + `{"a":` + q + `Q1"}}]`)}); !strings.HasSuffix(many.Answer,
		"Q1\n… and 2 more rows") {
		t.Errorf("%q", many.Answer)
	}
}

// Pressing Enter before a turn is shown is not treated as a decision on the turn.
func TestTypedEarly(t *testing.T) {
	early := bufio.NewReader(io.MultiReader(strings.NewReader("\n\n"), strings.NewReader("b\n")))
	if _, err := early.Peek(1); err != nil { // as with a terminal, part of the input is already buffered
		t.Fatal(err)
	}
	dropped := 0
	term := &Terminal{Screen: console.New(io.Discard, nil), In: early, Forget: func() { dropped++ }}
	d, err := term.Review(t.Context(), look)
	if err != nil || d.Verdict != event.WentBack || dropped != 1 {
		t.Errorf("%+v %v, dropped %d times; want the answer that came after the turn", d, err, dropped)
	}
}

func TestSummary(t *testing.T) {
	c := event.ReviewCount{Turns: 7, Interventions: 1, Back: 2, By: []string{"Ada", "Eve\x1b"}, Skipped: true}
	c.Usage.InputTokens, c.Usage.OutputTokens, c.Usage.USD = 12000, 300, 0.1234
	want := "reviewed by Ada, Eve, given up: 7 turns, 1 intervention, 2 times back, 12,000 tokens in, 300 out, 0.1234 USD"
	if got := Summary(c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

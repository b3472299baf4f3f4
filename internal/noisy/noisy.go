// Package noisy is a reader that plays the language model with a known amount of mistakes. It knows the gold query of
// each question, plans its steps from it, and errs by seed and rate: it misreads the question, makes IDs up, forgets
// the form of a turn, repeats itself, stops early. So thousands of runs can show what a preset, a policy or a check of
// the program is worth, which no real model could do here.
//
// Where a preset offers a choice (a judge's verdict), the reader chooses right with a given probability. Comparisons
// are made over a range of it, so that no preset is ahead because the reader was told the answer.
//
// The reader looks at who asks and for what ([llm.Request]'s purpose, tools and its own earlier turns), never at the
// words of a prompt.
package noisy

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Rates are how often the reader errs, each 0 to 1.
type Rates struct {
	Reading float64 // of a reading of the question: it is a wrong one
	ID      float64 // of a query: one ID in it is made up
	Format  float64 // of a turn: it has no action that can be read
	Stop    float64 // of a turn before the last: the work is ended
	Loop    float64 // of a turn: the last action is repeated
}

// Options describe a reader.
type Options struct {
	Seed  uint64
	Gold  func(question string) (sparql string, ok bool)
	Label func(id string) string // English label of an ID, "" when there is none
	Graph *kg.Description        // the graph of the gold queries; nil: Wikidata
	Rates Rates
	Right float64 // probability that a choice is made right
	// "text" or "fenced" where the request holds no tools; see package agent/protocol
	Protocol string
	// price of a million tokens in US dollars, for limits of money
	InputUSD, OutputUSD float64
}

// Reader plays the model. It is safe for concurrent use: what it says depends on its options and the request alone.
type Reader struct{ o Options }

// New returns a reader.
func New(o Options) *Reader { return &Reader{o} }

// wrongMark is in every verdict that sends an answer back, so that the reader knows it again.
const wrongMark = "The reading is doubtful."

// Complete answers a request. The error is [llm.ErrNoModel] for a question without gold query.
func (r *Reader) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gold, ok := r.o.Gold(req.Subject)
	if !ok {
		return nil, fmt.Errorf("the noisy reader does not know this question: %w", llm.ErrNoModel)
	}
	t := &turn{Reader: r, req: req, gold: gold}
	var choices []llm.Choice
	for n := range max(req.N, 1) {
		t.rnd = r.random(req, n)
		choices = append(choices, t.answer())
	}
	u := llm.Usage{Calls: 1}
	for _, m := range req.Messages {
		u.InputTokens += utf8.RuneCountInString(m.Content) / 4
	}
	for _, x := range req.Tools {
		u.InputTokens += (len(x.Description) + len(x.Parameters)) / 4
	}
	for _, c := range choices {
		u.OutputTokens += len(c.Content) / 4
		for _, x := range c.ToolCalls {
			u.OutputTokens += len(x.Arguments) / 4
		}
	}
	u.USD = (float64(u.InputTokens)*r.o.InputUSD + float64(u.OutputTokens)*r.o.OutputUSD) / 1e6
	return &llm.Response{Choices: choices, Model: "noisy", Usage: u}, nil
}

// random is the source of chance for one sample of one request: the same request is answered in the same way.
func (r *Reader) random(req llm.Request, sample int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d\x00", req.Subject, req.Purpose, req.Part, sample)
	for _, m := range req.Messages {
		if m.Role != llm.System {
			_, _ = h.Write([]byte(m.Role + m.Content))
		}
	}
	return rand.New(rand.NewPCG(r.o.Seed, h.Sum64()))
}

// reading returns the query that the reader believes in after it was sent back n times, and whether it is the gold one.
// It depends on seed and question only: within a run the reader keeps to what it believes.
func (r *Reader) reading(question, gold string, n int) (query string, right bool) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(question))
	_ = binary.Write(h, binary.LittleEndian, uint64(n))
	rnd := rand.New(rand.NewPCG(r.o.Seed, h.Sum64()))
	if rnd.Float64() >= r.o.Rates.Reading {
		return gold, true
	}
	if wrong, ok := r.misread(gold, rnd); ok {
		return wrong, false
	}
	return gold, true
}

// turn is the answer to one request.
type turn struct {
	*Reader
	req  llm.Request
	gold string
	rnd  *rand.Rand
}

func (t *turn) answer() llm.Choice {
	switch t.req.Purpose {
	case "act":
		return t.act()
	case "feedback":
		return t.judge()
	case "extract":
		q, _ := t.reading(t.req.Subject, t.gold, 0)
		return said(q)
	case "language":
		return said("en")
	case "analyze":
		names, _ := json.Marshal(t.names())
		return said(`{"intent":"access_resources","extracted_classes":[],"extracted_entities":` + string(names) +
			`,"question_steps":[]}`)
	case "report":
		return said("This is what the query found.")
	}
	return said("")
}

func said(text string) llm.Choice { return llm.Choice{Content: text, FinishReason: "stop"} }

// judge decides whether the answer at hand is right, and says so with the probability Right.
func (t *turn) judge() llm.Choice {
	_, right := t.reading(t.req.Subject, t.gold, t.part()-1)
	if t.rnd.Float64() >= t.o.Right {
		right = !right
	}
	verdict := map[string]string{"status": "done", "feedback": "It fits."}
	if !right {
		verdict = map[string]string{"status": "retry", "feedback": wrongMark}
	}
	args, _ := json.Marshal(verdict)
	if len(t.req.Tools) == 0 {
		return said(string(args))
	}
	return called(t.req.Tools[0].Name, args)
}

// part is the request's part as a number, 1 when it is none.
func (t *turn) part() int {
	n := 0
	if _, err := fmt.Sscan(t.req.Part, &n); err != nil || n < 1 {
		return 1
	}
	return n
}

func called(tool string, args json.RawMessage) llm.Choice {
	return llm.Choice{FinishReason: "tool_calls", ToolCalls: []llm.ToolCall{{ID: "call", Name: tool,
		Arguments: string(args)}}}
}

// act takes the next step of the plan, or errs.
func (t *turn) act() llm.Choice {
	sentBack := 0
	for _, m := range t.req.Messages {
		if m.Role != llm.Assistant && strings.Contains(m.Content, wrongMark) {
			sentBack++
		}
	}
	query, _ := t.reading(t.req.Subject, t.gold, sentBack)
	if t.o.Protocol == "fenced" {
		return t.fenced(query)
	}
	plan := t.plan(query)
	next := t.next(plan)
	last := len(plan) - 1
	a := plan[next]
	switch draw, rates := t.rnd.Float64(), t.o.Rates; {
	case draw < rates.Format:
		return said("I think that I should look this up before I go on.")
	case draw < rates.Format+rates.Loop:
		a = plan[max(next-1, 0)]
	case draw < rates.Format+rates.Loop+rates.Stop && next < last:
		a = plan[last]
		a.text = t.madeUp(a.text) // it was never tried
	case a.kind == execute && t.rnd.Float64() < rates.ID:
		a.text = t.madeUp(a.text)
	}
	return t.write(a)
}

// fenced writes a query, on the first try perhaps with an ID that is made up.
func (t *turn) fenced(query string) llm.Choice {
	if t.rnd.Float64() < t.o.Rates.Format {
		return said("The query would select the items asked for.")
	}
	if t.rnd.Float64() < t.o.Rates.ID {
		query = t.madeUp(query)
	}
	return said("```sparql\n" + query + "\n```")
}

// next returns the first action of the plan that was not taken yet; the last one ends the work.
func (t *turn) next(plan []action) int {
	for i, a := range plan[:len(plan)-1] {
		if !t.done(a) {
			return i
		}
	}
	return len(plan) - 1
}

// done reports whether the conversation holds an action among the reader's own turns.
func (t *turn) done(a action) bool {
	want := t.write(a)
	for _, m := range t.req.Messages {
		if m.Role != llm.Assistant {
			continue
		}
		for _, c := range m.ToolCalls {
			if len(want.ToolCalls) > 0 && c.Name == want.ToolCalls[0].Name && c.Arguments == want.ToolCalls[0].Arguments {
				return true
			}
		}
		_, call, _ := strings.Cut(want.Content, "\n")
		if len(want.ToolCalls) == 0 && strings.Contains(m.Content, call) {
			return true
		}
	}
	return false
}

// madeUp replaces one ID of a query by one that nobody has shown.
func (t *turn) madeUp(query string) string {
	items, properties := t.identifiers(query)
	ids := append(items, properties...)
	if len(ids) == 0 {
		return query
	}
	id, n := ids[t.rnd.IntN(len(ids))], 90_000_000+t.rnd.IntN(1_000_000)
	if t.wikidata() {
		return strings.ReplaceAll(query, ":"+id, fmt.Sprintf(":%s%d", id[:1], n))
	}
	return strings.ReplaceAll(query, id, fmt.Sprint(id, n))
}

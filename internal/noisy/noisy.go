// Package noisy implements a reader that acts as the language model and makes mistakes at known rates. It is given the
// gold query for each question, plans its steps from that query, and makes random mistakes: it misreads the question,
// makes up IDs, forgets the turn format, repeats itself, or stops early. Thousands of runs, which would cost too much
// with a real model, can then show how much a preset, a policy or one of the program's checks is worth.
//
// If a preset offers a choice (a judge's verdict, variants of the answer, several answers), the reader chooses
// correctly with a given probability. Comparisons cover a range of probabilities, so that no preset wins only because
// the reader knows the answer.
//
// The reader relies on the purpose of a request, its tools, its facts ([llm.Facts]) and the IDs that occur in it, never
// on the wording of a prompt. So it cannot show the effect of a prompt's wording.
//
//	noisy.go     the reader, and its turns
//	reading.go   how it chooses a reading of the question
//	misread.go   the ways to misunderstand a question
//	choice.go    verdicts and choices
//	plan.go      the steps that lead to a query, and the IDs that were shown
//	write.go     steps as calls to each preset's tools
package noisy

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Rates contains the probability of each kind of mistake, from 0 to 1.
type Rates struct {
	Reading float64 // the question is misread
	Memory  float64 // an ID not shown in the conversation is misremembered for the whole run
	ID      float64 // one ID in a query is made up
	Format  float64 // a turn has no readable action
	Stop    float64 // a turn before the last one ends the run
	Loop    float64 // a turn repeats the previous action
}

// Options describe a reader.
type Options struct {
	Seed  uint64
	Gold  func(question string) (sparql string, ok bool)
	Label func(id string) string // English label of an ID, or ""
	// the quality of a query's result, from 0 to 1; determines choices, and which readings are considered wrong; if nil, 1
	// for the gold query and 0 otherwise
	Score func(question, query string) float64
	// returns a property that could be confused with the given one, or ""; if nil, properties are never confused
	Near  func(property string) string
	Graph *kg.Description // the graph that the gold queries are for; Wikidata if nil
	Rates Rates
	Right float64 // probability of a correct choice
	// "text" or "fenced" for requests without tools; see package agent/protocol
	Protocol string
	// wrong readings, shared among readers of the same questions, or not shared if nil
	Readings *Readings
	// prices per million tokens in US dollars, for cost limits
	InputUSD, OutputUSD float64
}

// Reader acts as the model. It is safe for concurrent use: its responses depend only on its options and the request.
type Reader struct{ o Options }

// New returns a reader.
func New(o Options) *Reader {
	if o.Readings == nil {
		o.Readings = &Readings{}
	}
	return &Reader{o}
}

// Complete answers a request. The error is [llm.ErrNoModel] for a question without a gold query.
func (r *Reader) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gold, ok := r.o.Gold(req.Subject)
	if !ok {
		return nil, fmt.Errorf("the noisy reader has no gold query for this question: %w", llm.ErrNoModel)
	}
	if req.Facts == nil {
		req.Facts = &llm.Facts{}
	}
	t := &turn{Reader: r, req: req, gold: gold}
	var choices []llm.Choice
	for n := range max(req.N, 1) {
		t.sample, t.rnd = n, r.random(req, n)
		choices = append(choices, t.answer())
	}
	u := llm.Usage{Calls: 1}
	for _, m := range req.Messages {
		u.InputTokens += utf8.RuneCountInString(m.Content) / 4
		for _, c := range m.ToolCalls {
			u.InputTokens += len(c.Arguments) / 4
		}
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

// random returns the source of randomness for one sample of one request. It is deterministic: the same request always
// gets the same response.
func (r *Reader) random(req llm.Request, sample int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d\x00%d\x00", req.Subject, req.Purpose, req.Part, seedOf(req), sample)
	for _, m := range req.Messages {
		if m.Role != llm.System {
			_, _ = h.Write([]byte(m.Role + m.Content))
		}
	}
	return rand.New(rand.NewPCG(r.o.Seed, h.Sum64()))
}

// seedOf returns the seed given in the request. Independent attempts to answer a question have different seeds.
func seedOf(req llm.Request) int {
	if req.Seed == nil {
		return 0
	}
	return *req.Seed
}

// chance returns a source of randomness that depends on the reader's seed and on the given values.
func (r *Reader) chance(what ...any) *rand.Rand {
	h := fnv.New64a()
	for _, w := range what {
		fmt.Fprint(h, w, "\x00")
	}
	return rand.New(rand.NewPCG(r.o.Seed, h.Sum64()))
}

// turn is the response to one request.
type turn struct {
	*Reader
	req    llm.Request
	gold   string
	sample int
	rnd    *rand.Rand
	shown  map[string]bool // IDs shown in the request; see [turn.seen]
}

func (t *turn) answer() llm.Choice {
	switch t.req.Purpose {
	case "act":
		return t.act()
	case "feedback":
		return t.verdict()
	case "judge":
		return t.points()
	case "compare":
		return t.choose()
	case "extract":
		query, _ := t.believed()
		return said(query)
	case "language":
		return said("en")
	case "analyze":
		items, properties := t.identifiers(t.gold)
		text, _ := json.Marshal(map[string]any{"intent": "access_resources", "extracted_classes": []string{},
			"extracted_entities": t.names(items), "extracted_relations": t.names(properties),
			"question_steps": []string{}})
		return said(string(text))
	case "report":
		return said("This is what the query found.")
	}
	return said("")
}

func said(text string) llm.Choice { return llm.Choice{Content: text, FinishReason: "stop"} }

// act takes the next step of the plan or makes a mistake.
func (t *turn) act() llm.Choice {
	query, hopeless := t.believed()
	if t.o.Protocol == "fenced" {
		return t.fenced(query)
	}
	plan := t.plan(query)
	if hopeless {
		plan = []action{{giveUp, "The graph does not have it."}}
	}
	if v := t.variant(); v != "" { // choose among the variants that were shown
		plan = []action{{execute, v}, {stop, v}}
		if v == t.last() {
			plan = plan[1:]
		}
	}
	next := t.next(plan)
	last := len(plan) - 1
	a := plan[next]
	switch draw, rates := t.rnd.Float64(), t.o.Rates; {
	case draw < rates.Format:
		return said("I think that I should look this up before I go on.")
	case draw < rates.Format+rates.Loop && len(t.req.Facts.Done) > 0:
		return t.again()
	case draw < rates.Format+rates.Loop+rates.Stop && next < last && a.kind != execute:
		if t.rnd.Float64() < 0.5 { // answer with a query that was never run
			query = t.madeUp(query)
		}
		return t.write(action{guess, t.fromMemory(query)})
	case a.kind == execute:
		a.text = t.fromMemory(a.text)
		if t.rnd.Float64() < rates.ID {
			a.text = t.madeUp(a.text)
		}
	case a.kind < execute && len(t.req.Tools) > 0 && !t.req.OneToolCall:
		return t.together(plan[next:])
	}
	return t.write(a)
}

// fenced writes a query, possibly with a made-up ID.
func (t *turn) fenced(query string) llm.Choice {
	if t.rnd.Float64() < t.o.Rates.Format {
		return said("The query would select the items asked for.")
	}
	query = t.fromMemory(query)
	if t.rnd.Float64() < t.o.Rates.ID {
		query = t.madeUp(query)
	}
	return said("```sparql\n" + query + "\n```")
}

// again repeats the last executed call.
func (t *turn) again() llm.Choice {
	d := t.req.Facts.Done[len(t.req.Facts.Done)-1]
	if len(t.req.Tools) == 0 {
		return said("Thought: Once more.\nAction: " + d.Tool + "(" + d.Arguments + ")")
	}
	return called(call{d.Tool, json.RawMessage(d.Arguments)})
}

// next returns the first action in the plan that has not been executed; the last action ends the run.
func (t *turn) next(plan []action) int {
	for i, a := range plan[:len(plan)-1] {
		if !t.did(a) {
			return i
		}
	}
	return len(plan) - 1
}

func (t *turn) did(a action) bool {
	for _, d := range t.req.Facts.Done {
		if a.kind == execute {
			if same(d.Query, a.text) {
				return true
			}
			continue
		}
		for _, w := range words[a.kind] {
			if w.tool == d.Tool && strings.Contains(d.Arguments, quoted(a.text)) {
				return true
			}
		}
	}
	return false
}

func same(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

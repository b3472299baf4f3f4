package agent_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sandbox"
)

// player is a model with fixed responses.
type player []string

func (p *player) Complete(context.Context, llm.Request) (*llm.Response, error) {
	if len(*p) == 0 {
		return nil, llm.ErrNoModel
	}
	text := (*p)[0]
	*p = (*p)[1:]
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}}}, nil
}

// This example answers a question from the built-in slice of Wikidata. The model writes one action per turn; here, its
// turns are fixed.
func ExampleEngine_Ask() {
	graph, err := sandbox.Graph(embedded.Options{Name: "built-in slice", Now: time.Now})
	if err != nil {
		log.Fatal(err)
	}
	model := &player{
		"Thought: I look for the country.\nAction: search_wikidata(Germany)",
		"Thought: P36 is its capital.\nAction: execute_sparql(SELECT ?capital WHERE { wd:Q183 wdt:P36 ?capital })",
		"Thought: That is the answer.\nAction: stop()",
		"The capital of Germany is Berlin.",
	}
	engine := agent.New(slog.New(slog.DiscardHandler), model, tool.Wikibase(graph), time.Now, agent.Options{})
	out, err := engine.Ask(context.Background(), agent.Question{Text: "What is the capital of Germany?",
		Language: "en"}, nil, agent.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range out.Steps {
		fmt.Printf("%s(%s)\n", s.Action, s.Argument)
	}
	if out.Answer == nil {
		log.Fatal(out.Reason, out.Detail)
	}
	for _, row := range out.Answer.Table.Rows {
		fmt.Println(row[0].Value)
	}
	fmt.Println(out.Report)
	// Output:
	// search_wikidata(Germany)
	// execute_sparql(SELECT ?capital WHERE { wd:Q183 wdt:P36 ?capital })
	// stop()
	// http://www.wikidata.org/entity/Q64
	// The capital of Germany is Berlin.
}

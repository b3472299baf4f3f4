package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/text"
)

func outcome(q agent.RecordedQuery) (*kg.Table, error) {
	switch q.Status {
	case "syntax_error":
		return nil, kg.Errorf(kg.SyntaxError, "recorded syntax error")
	case "timed_out":
		return nil, kg.Errorf(kg.Timeout, "recorded timeout")
	case "too_large":
		return nil, kg.Errorf(kg.TooLarge, "recorded too large")
	case "other_error":
		return nil, kg.Errorf(kg.QueryFailed, "recorded error")
	}
	if s := string(q.Result); s == "true" || s == "false" {
		return &kg.Table{Ask: true, Boolean: s == "true", Source: "record"}, nil
	}
	var rows []map[string]json.RawMessage
	if json.Unmarshal(q.Result, &rows) != nil || len(rows) == 0 {
		return &kg.Table{Vars: []string{"x"}, Source: "record"}, nil
	}
	t := &kg.Table{}
	body := `{"head":{"vars":` + mustJSON(columnsOf(q.Result)) + `},"results":{"bindings":` + string(q.Result) + `}}`
	if err := t.UnmarshalJSON([]byte(body)); err != nil {
		return nil, err
	}
	t.Source = "record"
	return t, nil
}

// columnsOf returns the variables of the bindings in order of first appearance, as pandas does.
func columnsOf(bindings json.RawMessage) []string {
	var out []string
	seen := map[string]bool{}
	var rows []json.RawMessage
	_ = json.Unmarshal(bindings, &rows)
	for _, row := range rows {
		dec := json.NewDecoder(bytes.NewReader(row))
		_, _ = dec.Token()
		for dec.More() {
			k, _ := dec.Token()
			var skip json.RawMessage
			_ = dec.Decode(&skip)
			if name := k.(string); !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}

func mustJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// recordPlayer is the model and the graph for one recorded run: the model responds by position, and the graph returns
// what was observed at that position.
type recordPlayer struct {
	*agent.RecordedModel
	run   agent.RecordedRun
	steps []step // the agent's steps, with their positions in the record
	rolls []int  // To of every rollback
}

func newPlayer(run agent.RecordedRun) *recordPlayer {
	return &recordPlayer{RecordedModel: agent.NewRecordedModel(run), run: run}
}

// step is one of the agent's steps, with the position of the recorded action that it came from.
type step struct {
	pos int
	agent.Step
}

// Record keeps the agent's steps: the player is also the trajectory's recorder.
func (p *recordPlayer) Record(_ context.Context, e agent.Event) error {
	switch e.Event {
	case "step":
		p.steps = append(p.steps, step{pos: p.Position() - 1, Step: *e.Step})
	case "rollback":
		p.rolls = append(p.rolls, *e.To)
	}
	return nil
}

var errRecordEnd = errors.New("the record ends here")

// Complete ends the run where the record ends, and does not extract a query, because only the actions are compared.
func (p *recordPlayer) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	switch {
	case req.Purpose == "act" && p.Position() == len(p.run.Actions):
		return nil, errRecordEnd
	case req.Purpose == "extract":
		return &llm.Response{Choices: []llm.Choice{{Content: "NONE", FinishReason: "stop"}}, Usage: llm.Usage{Calls: 1}}, nil
	}
	return p.RecordedModel.Complete(ctx, req)
}

func (p *recordPlayer) Search(_ context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	res := &kg.SearchResult{}
	for _, h := range parseHits(p.Observed()) {
		if h.Type == q.Type {
			res.Hits = append(res.Hits, h)
		}
	}
	return res, nil
}

func (p *recordPlayer) Entity(_ context.Context, id, _ string) (*kg.Entity, error) {
	return parseEntity(id, p.Observed())
}

func (p *recordPlayer) Examples(_ context.Context, _, _ string) ([]kg.Example, error) {
	_, list := parseExamples(p.Observed())
	return list, nil
}

// Query returns the result of the last query executed at or before the current position.
func (p *recordPlayer) Query(context.Context, string) (*kg.Table, error) {
	return queryAt(p.run, p.Position())
}

// queryAt returns the result of the last query executed among a run's first n actions.
func queryAt(run agent.RecordedRun, n int) (*kg.Table, error) {
	for i := n - 1; i >= 0; i-- {
		if a := run.Actions[i]; a.Name == "execute_sparql" {
			for _, g := range run.Generated {
				if text.Fold(g.SPARQL) == text.Fold(a.Argument) {
					return outcome(g)
				}
			}
			return &kg.Table{Vars: []string{"x"}, Source: "record"}, nil
		}
	}
	return nil, kg.Errorf(kg.QueryFailed, "no query in the record")
}

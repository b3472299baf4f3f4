package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
)

// maxQuestion is the maximum length of a question, in characters.
const maxQuestion = 4000

// askIn contains the arguments of ask.
type askIn struct {
	Question string    `json:"question" jsonschema:"the question, in any language"`
	Language string    `json:"language,omitempty" jsonschema:"code of the question's language; detected when left out"`
	Limit    int       `json:"limit,omitempty" jsonschema:"rows to return, 1 to 1000; 50 when left out"`
	KG       graphName `json:"kg,omitempty"`
}

type askOut struct {
	SPARQL     string  `json:"sparql,omitempty" jsonschema:"the query that answers the question; empty when there is none"`
	Reason     string  `json:"reason,omitempty" jsonschema:"why there is no answer"`
	Report     string  `json:"report,omitempty" jsonschema:"a short answer in the question's language"`
	Confidence float64 `json:"confidence"`
	Steps      int     `json:"steps"`
	Result     rowsOut `json:"result"`
}

// addQuestion adds the ask tool. The tool has no time limit of its own, since the run has one.
func (s *server) addQuestion(m *sdk.Server) {
	no := false
	sdk.AddTool(m, &sdk.Tool{Name: "ask", Title: "Ask a question", InputSchema: inputSchema[askIn](s, s.Main),
		Description: "Lets SpinachBot's own agent find the query for a question. It takes many steps, up to minutes, and costs " +
			"money; each step is reported as progress.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}},
		func(ctx context.Context, req *sdk.CallToolRequest, in askIn) (*sdk.CallToolResult, askOut, error) {
			out, err := s.ask(ctx, req, in)
			return nil, out, s.said(ctx, err)
		})
}

func (s *server) ask(ctx context.Context, req *sdk.CallToolRequest, in askIn) (out askOut, err error) {
	out.Result = rowsOut{Columns: []string{}, Rows: [][]cell{}}
	text := render.Clip(strings.TrimSpace(in.Question), maxQuestion)
	if text == "" {
		return out, problem("question is missing")
	}
	q := agent.Question{ID: "mcp", Text: text}
	if in.Language != "" {
		q.Language = language(in.Language)
	}
	names := s.Main
	if in.KG != "" {
		name, err := s.graph(in.KG)
		if err != nil {
			return out, err
		}
		names = []string{name}
	}
	sources, err := s.open(ctx, names...)
	if err != nil {
		return out, err
	}
	run, err := s.Ask(sources).Start(ctx, q)
	if err != nil {
		return out, err
	}
	for n, e := range run.Events(ctx, 0) {
		s.progress(ctx, req, n, e)
	}
	o, err := run.Wait()
	if err != nil {
		return out, err
	}
	out.Report, out.Confidence, out.Steps, out.Reason = o.Report, o.Confidence, len(o.Steps), string(o.Reason)
	if o.Answer == nil {
		return out, nil
	}
	out.SPARQL = o.Answer.SPARQL
	src := sources.Main()
	if other, err := sources.Named(o.Answer.KG); err == nil {
		src = other
	}
	out.Result = s.rows(ctx, src, o.Answer.Table, 0, clamp(in.Limit, pageRows, maxRows), q.Language)
	return out, nil
}

// progress reports a step to a client that requested progress.
func (s *server) progress(ctx context.Context, req *sdk.CallToolRequest, n int, e event.Event) {
	token := req.Params.GetProgressToken()
	if token == nil || e.Event != "step" || e.Step == nil {
		return
	}
	err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(n),
		Message: fmt.Sprintf("step %d: %s(%s)", e.Step.N, e.Step.Action, render.Clip(render.Fold(e.Step.Argument), 200))})
	if err != nil {
		s.Log.DebugContext(ctx, "mcp: progress could not be reported", "error", err)
	}
}

package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// pageRows is the default number of rows returned by a call, maxRows the maximum that a call may request, and maxCell
// the maximum number of characters in a cell.
const (
	pageRows = 50
	maxRows  = 1000
	maxCell  = 2000
)

// clamp returns the smaller of n and most, or usual if the call did not set n.
func clamp(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

func page[T any](all []T, offset, limit int) []T {
	offset = min(max(offset, 0), len(all))
	return all[offset:min(offset+limit, len(all))]
}

// dialect reads queries as the agent does: it rejects updates, and SERVICE clauses with foreign endpoints.
var dialect tool.Dialect

func (s *server) addQueries(m *sdk.Server) {
	addTool(s, m, "check_query", "Check a query",
		"Reads a SPARQL query without running it: syntax errors with their position, and "+
			"probable mistakes.", s.check)
	addTool(s, m, "explain_query", "Explain a query", "Explains in plain English what a SPARQL query asks for.", s.explain)
	addTool(s, m, "rewrite_query", "Rewrite a query",
		"Ports a query between the dialects of the Wikidata Query Service (wdqs), "+
			"QLever (qlever) and SPARQL 1.1 (standard).", s.rewrite)
	addTool(s, m, "execute_query", "Run a query",
		"Runs a SPARQL SELECT or ASK query and returns a page of its rows, with labels, and "+
			"the number of all rows. Wikidata's usual prefixes and its label service work. CONSTRUCT and DESCRIBE return triples.",
		s.execute)
}

// queryIn contains the arguments for the tools that take a query.
type queryIn struct {
	SPARQL string    `json:"sparql" jsonschema:"the query"`
	KG     graphName `json:"kg,omitempty"`
}

type checkOut struct {
	OK       bool            `json:"ok" jsonschema:"whether the query can be run"`
	Error    string          `json:"error,omitempty"`
	Line     int             `json:"line,omitempty"`
	Column   int             `json:"column,omitempty"`
	Warnings []check.Problem `json:"warnings"`
}

func (s *server) check(_ context.Context, in queryIn) (checkOut, error) {
	out := checkOut{Warnings: []check.Problem{}}
	if _, err := s.graph(in.KG); err != nil {
		return out, err
	}
	if err := dialect.Check(in.SPARQL); err != nil {
		out.Error = err.Error()
		var e *kg.Error
		if errors.As(err, &e) {
			out.Error, out.Line, out.Column = e.Message, e.Line, e.Column
		}
		return out, nil
	}
	q, err := sparql.Parse(in.SPARQL)
	if err != nil {
		return out, err
	}
	out.OK, out.Warnings = true, append(out.Warnings, check.Query(q, nil)...)
	return out, nil
}

type textOut struct {
	Text string `json:"text"`
}

func (s *server) explain(ctx context.Context, in queryIn) (out textOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	if err := dialect.Check(in.SPARQL); err != nil {
		return out, err
	}
	q, err := sparql.Parse(in.SPARQL)
	if err != nil {
		return out, err
	}
	labels := s.labels(ctx, src, dialect.Identifiers(in.SPARQL), "en")
	out.Text = explain.Query(q, func(id string) string { return labels[id] })
	return out, nil
}

// rewriteIn contains the arguments of rewrite_query.
type rewriteIn struct {
	SPARQL   string `json:"sparql" jsonschema:"the query"`
	To       string `json:"to" jsonschema:"standard, qlever or wdqs"`
	Language string `json:"language,omitempty" jsonschema:"code of the reader's language; English when left out"`
}

type rewriteOut struct {
	SPARQL string   `json:"sparql"`
	Notes  []string `json:"notes" jsonschema:"what was changed, and what may differ"`
}

func (s *server) rewrite(_ context.Context, in rewriteIn) (out rewriteOut, err error) {
	if err := dialect.Check(in.SPARQL); err != nil {
		return out, err
	}
	r, err := rewrite.Query(in.SPARQL, rewrite.Target(strings.ToLower(in.To)),
		rewrite.Options{Language: language(in.Language)})
	if err != nil {
		return out, problem(err.Error())
	}
	return rewriteOut{SPARQL: r.Text, Notes: append([]string{}, r.Notes...)}, nil
}

// executeIn contains the arguments of execute_query.
type executeIn struct {
	SPARQL   string    `json:"sparql" jsonschema:"the query"`
	Limit    int       `json:"limit,omitempty" jsonschema:"rows to return, 1 to 1000; 50 when left out"`
	Offset   int       `json:"offset,omitempty" jsonschema:"rows to skip"`
	Language string    `json:"language,omitempty" jsonschema:"code of the language of labels, and of [AUTO_LANGUAGE]; English when left out"`
	KG       graphName `json:"kg,omitempty"`
}

type rowsOut struct {
	Columns []string `json:"columns"`
	Rows    [][]cell `json:"rows" jsonschema:"a cell for each column; null where there is no value"`
	Total   int      `json:"total" jsonschema:"number of all rows; -1 when list_triples does not know it"`
	More    bool     `json:"more,omitempty" jsonschema:"there are rows after these: call again with offset"`
	Boolean *bool    `json:"boolean,omitempty" jsonschema:"the answer of an ASK"`
	MS      int64    `json:"ms"`
	Source  string   `json:"source,omitempty" jsonschema:"the endpoint that answered"`
}

type cell struct {
	Value    string `json:"value"`
	Type     string `json:"type" jsonschema:"uri, literal or bnode; empty where there is no value"`
	Label    string `json:"label,omitempty"`
	Language string `json:"language,omitempty"`
	Datatype string `json:"datatype,omitempty"`
}

func (s *server) execute(ctx context.Context, in executeIn) (out rowsOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	if err := dialect.Check(in.SPARQL); err != nil {
		return out, err
	}
	lang := language(in.Language)
	table, err := src.Graph.Query(ctx, dialect.InLanguage(in.SPARQL, lang))
	if err != nil {
		return out, err
	}
	return s.rows(ctx, src, table, in.Offset, clamp(in.Limit, pageRows, maxRows), lang), nil
}

// rows returns a page of a result.
func (s *server) rows(ctx context.Context, src *agent.Source, t *kg.Table, offset, limit int, lang string) rowsOut {
	out := rowsOut{Columns: append([]string{}, t.Vars...), Rows: [][]cell{}, Total: len(t.Rows),
		MS: int64(t.Elapsed / time.Millisecond), Source: t.Source}
	if t.Ask {
		out.Boolean = &t.Boolean
		return out
	}
	shown := page(t.Rows, offset, limit)
	out.More = max(offset, 0)+len(shown) < len(t.Rows)
	var ids []string
	for _, row := range shown {
		for _, c := range row {
			if id := rdf.EntityID(c.Value); c.IsIRI() && id != "" {
				ids = append(ids, id)
			}
		}
	}
	labels := s.labels(ctx, src, ids, lang)
	for _, row := range shown {
		cells := make([]cell, len(row))
		for i, c := range row {
			switch c.Kind {
			case rdf.IRIKind:
				cells[i] = cell{Value: c.Value, Type: "uri", Label: labels[rdf.EntityID(c.Value)]}
			case rdf.BlankKind:
				cells[i] = cell{Value: c.Value, Type: "bnode"}
			case rdf.LiteralKind:
				cells[i] = cell{Value: render.Clip(c.Value, maxCell), Type: "literal", Language: c.Lang, Datatype: c.Datatype}
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// labels returns the labels for the IDs, or none if they cannot be fetched. Labels are helpful, but not necessary.
func (s *server) labels(ctx context.Context, src *agent.Source, ids []string, lang string) map[string]string {
	if src.Labels == nil || len(ids) == 0 {
		return nil
	}
	labels, err := src.Labels.Labels(ctx, ids, []string{lang, "mul", "en"})
	if err != nil {
		s.Log.WarnContext(ctx, "mcp: no labels", "error", err)
		return nil
	}
	return labels
}

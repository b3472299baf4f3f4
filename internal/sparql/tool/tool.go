// Package tool checks, prints, rewrites and explains queries given as text or as JSON lines. It implements the sparql
// command, except for its flags.
package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spinachbot/spinachbot/internal/sparql"
	sparqlcheck "github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/text"
)

// LabelSource returns the labels of Q, P and L IDs, each in the first language that has one.
type LabelSource func(ctx context.Context, ids, languages []string) (map[string]string, error)

// Run is one invocation of the command: what to do with each query, and where to read and write.
type Run struct {
	Action   string // check, format, rewrite or explain
	JSON     bool   // whether the input and output are JSON lines
	Labels   string // for format: comment, replace or none
	Language string // of the labels
	OneLine  bool   // for format: print everything on one line
	URL      bool   // for format: a link to the query service's page
	Posting  bool   // for format: the posting form
	To       string // for rewrite: the engine
	Rewrite  rewrite.Options
	Allow    func(iri string) bool // for check: the allowed services; nil for any
	Source   LabelSource
	Stdin    io.Reader
	Out      *bufio.Writer
	Stderr   io.Writer // mistakes and notes about plain-text queries

	failed bool
}

// Failed reports whether any query failed.
func (c *Run) Failed() bool { return c.failed }

// File handles one input, a file or - for standard input. The error is a read or write error; mistakes in queries are
// written to the output, and make [Run.Failed] return true.
func (c *Run) File(ctx context.Context, name string) error {
	r := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	if c.JSON {
		return c.lines(ctx, r)
	}
	b, err := io.ReadAll(io.LimitReader(r, sparql.MaxLength+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return c.text(ctx, name, string(b))
}

// sparqlLine is a line of output; empty fields are omitted.
type sparqlLine struct {
	ID         json.RawMessage       `json:"id"`
	OK         *bool                 `json:"ok,omitempty"`
	Form       string                `json:"form,omitempty"`
	SPARQL     string                `json:"sparql,omitempty"`
	Text       string                `json:"text,omitempty"`
	Notes      []string              `json:"notes,omitempty"`
	Metrics    *measure.Metrics      `json:"metrics,omitempty"`
	Entities   *[]string             `json:"entities,omitempty"`
	Properties *[]string             `json:"properties,omitempty"`
	Features   *[]string             `json:"features,omitempty"`
	Pattern    string                `json:"pattern,omitempty"`
	Problems   []sparqlcheck.Problem `json:"problems,omitempty"`
	Error      any                   `json:"error,omitempty"`
	Errors     []sparqlError         `json:"errors,omitempty"`
}

type sparqlError struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
	Found    string `json:"found,omitempty"`
	Expected string `json:"expected,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

func jsonError(e *sparql.Error) sparqlError {
	return sparqlError{e.Line, e.Column, e.Message, e.Found, e.Expected, e.Hint}
}

func (c *Run) lines(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading line %d: %w", n, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := enc.Encode(c.line(ctx, line, n)); err != nil {
				return fmt.Errorf("writing the output: %w", err)
			}
		}
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (c *Run) line(ctx context.Context, line []byte, n int) *sparqlLine {
	var in struct {
		ID     json.RawMessage `json:"id"`
		SPARQL *string         `json:"sparql"`
	}
	out := &sparqlLine{ID: json.RawMessage("null")}
	err := json.Unmarshal(line, &in)
	if err == nil && in.SPARQL == nil {
		err = errors.New(`it has no "sparql"`)
	}
	if in.ID != nil {
		out.ID = in.ID
	}
	if err != nil {
		c.fail(out, fmt.Errorf(`line %d: want a JSON object such as {"id":1,"sparql":"ASK {}"}: %w`, n, text.JSON(err)))
		if e, ok := out.Error.(sparqlError); ok {
			e.Line, e.Column = n, 1
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				e.Column = max(1, int(syntax.Offset))
			}
			out.Error = e
		}
		return out
	}
	c.one(ctx, *in.SPARQL, out)
	return out
}

// fail adds an error to a line, with the error's position, if known.
func (c *Run) fail(out *sparqlLine, err error) {
	c.failed = true
	var all sparql.Errors
	var one *sparql.Error
	switch {
	case c.Action == "rewrite":
		out.Error = err.Error()
	case errors.As(err, &all):
		out.Error = jsonError(all.First())
		for _, e := range all[1:] {
			out.Errors = append(out.Errors, jsonError(e))
		}
	case errors.As(err, &one):
		out.Error = jsonError(one)
	default:
		out.Error = sparqlError{Line: 0, Column: 0, Message: err.Error()}
	}
	if c.Action == "check" {
		no := false
		out.OK = &no
	}
}

func (c *Run) one(ctx context.Context, query string, out *sparqlLine) {
	if c.Action == "rewrite" {
		w, err := rewrite.Query(query, rewrite.Target(c.To), c.Rewrite)
		if err != nil {
			c.fail(out, err)
			return
		}
		out.SPARQL, out.Notes = w.Text, w.Notes
		return
	}
	q, err := sparql.Parse(query)
	if err == nil && q.Form == sparql.Update {
		out.Form = q.Form.String()
		err = sparql.Guard(q, nil)
	}
	if err != nil {
		c.fail(out, err)
		return
	}
	switch c.Action {
	case "check":
		c.check(q, out)
	case "format":
		err = c.format(ctx, q, out)
	case "explain":
		var label func(string) string
		if label, err = c.labelsOf(ctx, q); err == nil {
			out.Text = explain.Query(q, label)
		}
	}
	if err != nil {
		c.fail(out, err)
	}
}

func (c *Run) check(q *sparql.Query, out *sparqlLine) {
	yes := true
	m := measure.Query(q)
	ids := sparql.Identifiers(q)
	entities, properties, features := sparql.IDs(ids, false), sparql.IDs(ids, true), measure.Features(q)
	out.OK, out.Form, out.Metrics, out.Entities, out.Properties, out.Features = &yes, q.Form.String(), &m, &entities,
		&properties, &features
	out.Pattern, out.Problems = measure.Shape(q), sparqlcheck.Query(q, c.Allow)
}

func (c *Run) format(ctx context.Context, q *sparql.Query, out *sparqlLine) error {
	var label func(string) string
	if c.Labels != "" {
		var err error
		if label, err = c.labelsOf(ctx, q); err != nil {
			return err
		}
	}
	if c.Posting {
		s, err := sparql.PostingForm(q.Text, label)
		out.SPARQL = s
		return err
	}
	out.SPARQL = sparql.Print(q, sparql.PrintOptions{Label: label, Replace: c.Labels == "replace", OneLine: c.OneLine})
	if c.OneLine && q.HasComments() {
		out.Notes = append(out.Notes, "comments removed")
	}
	if c.Labels == "replace" {
		out.Notes = append(out.Notes, "labels replace the IDs: this text is for reading and does not run")
	}
	if c.URL {
		out.SPARQL = sparql.URL(out.SPARQL)
	}
	return nil
}

func (c *Run) labelsOf(ctx context.Context, q *sparql.Query) (func(string) string, error) {
	var ids []string
	for _, i := range sparql.Identifiers(q) {
		ids = append(ids, i.ID)
	}
	m, err := c.Source(ctx, ids, []string{c.Language, "mul", "en"})
	if err != nil {
		return nil, fmt.Errorf("reading labels: %w", err)
	}
	return func(id string) string { return m[id] }, nil
}

// Cached returns a source that requests each label only once.
func Cached(source LabelSource) LabelSource {
	known := map[string]string{}
	return func(ctx context.Context, ids, languages []string) (map[string]string, error) {
		var missing []string
		for _, id := range ids {
			if _, ok := known[id]; !ok {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			m, err := source(ctx, missing, languages)
			if err != nil {
				return nil, err
			}
			for _, id := range missing {
				known[id] = m[id]
			}
		}
		return known, nil
	}
}

func (c *Run) text(ctx context.Context, name, query string) error {
	out := &sparqlLine{}
	c.one(ctx, query, out)
	if name == "-" {
		name = "query"
	}
	switch e := out.Error.(type) {
	case string:
		fmt.Fprintf(c.Stderr, "%s: %s\n", name, strings.ReplaceAll(e, "\n", "\n\t"))
		return nil
	case sparqlError:
		for _, e := range append([]sparqlError{e}, out.Errors...) {
			fmt.Fprintf(c.Stderr, "%s:%d:%d: %s\n", name, e.Line, e.Column, e.Message)
			if e.Hint != "" {
				fmt.Fprintf(c.Stderr, "\t%s\n", e.Hint)
			}
		}
		return nil
	}
	if c.Action == "check" {
		return c.report(name, out)
	}
	for _, n := range out.Notes {
		fmt.Fprintf(c.Stderr, "%s: %s\n", name, n)
	}
	_, err := fmt.Fprintln(c.Out, strings.TrimRight(out.SPARQL+out.Text, "\n"))
	return err
}

// report prints the result of check in human-readable form.
func (c *Run) report(name string, out *sparqlLine) error {
	fmt.Fprintf(c.Out, "%s: %s query, %d clauses, %d triples; %s\n", name, out.Form, out.Metrics.Clauses,
		out.Metrics.Relations, strings.Join(*out.Features, ", "))
	for _, p := range out.Problems {
		fmt.Fprintf(c.Out, "%s:%d:%d: %s\n", name, p.Line, p.Column, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(c.Out, "\t%s\n", p.Hint)
		}
	}
	return nil
}

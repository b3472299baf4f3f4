package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql"
	sparqlcheck "github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/text"
)

const sparqlDoc = `Each FILE is one query; standard input is read when none is named, or for -. With --json, the input and the output are
JSON lines: {"id":…,"sparql":"…"}. Every line for an input that failed has an "error". The exit status is 1 when any input failed.`

// labelSource gives the labels of Q, P and L numbers in the first of the languages that has one.
type labelSource func(ctx context.Context, ids, languages []string) (map[string]string, error)

// sparqlRun is one call of a subcommand.
type sparqlRun struct {
	action   string
	json     bool
	labels   string
	language string
	oneLine  bool
	url      bool
	posting  bool
	to       string
	rewrite  rewrite.Options
	source   labelSource
	stdin    io.Reader
	out      *bufio.Writer
	stderr   io.Writer
	failed   bool
	allow    func(iri string) bool // of check; nil for any
}

// builtinLabels are the labels of the built-in graph, which is opened when the first label is wanted.
func builtinLabels() labelSource {
	var graph *embedded.Graph
	return func(ctx context.Context, ids, languages []string) (map[string]string, error) {
		if graph == nil {
			g, err := builtinGraph(time.Now)
			if err != nil {
				return nil, err
			}
			graph = g
		}
		return graph.Labels(ctx, ids, languages)
	}
}

func sparqlCommand(e *env) *cobra.Command { return sparqlCommandWith(e, builtinLabels()) }

// sparqlCommandWith is the command with labels from elsewhere.
func sparqlCommandWith(e *env, source labelSource) *cobra.Command {
	return group(e, "sparql", "check, format, rewrite or explain queries",
		sparqlCheckCommand(e), sparqlFormatCommand(e, source), sparqlRewriteCommand(e), sparqlExplainCommand(e, source))
}

// newSPARQL declares a subcommand and the flags that all of them have.
func newSPARQL(e *env, action, short, doc string, source labelSource) (*cmdline, *sparqlRun) {
	c := newCmdline(e, action+" [flags] [FILE]...", short, doc+"\n\n"+sparqlDoc)
	r := &sparqlRun{action: action, source: cached(source), stdin: e.stdin, out: bufio.NewWriter(e.stdout), stderr: e.stderr}
	c.fs.BoolVar(&r.json, "json", false, "read and print JSON lines")
	return c, r
}

func sparqlCheckCommand(e *env) *cobra.Command {
	c, r := newSPARQL(e, "check", "say whether queries parse and what is probably wrong",
		`Says whether a query parses, in the dialect of Wikidata's query service, and what is probably wrong with it. --json adds form, metrics, entities, properties, features and the normalized pattern.`, nil)
	c.fs.Func("services", "the only `addresses` that SERVICE and FROM may name, separated by commas; \"\" for none (default: any)", func(s string) error {
		listed := strings.Split(s, ",")
		r.allow = func(iri string) bool { return iri != "" && slices.Contains(listed, iri) }
		return nil
	})
	return c.command(func(ctx context.Context, files []string) int { return r.run(ctx, e, files) })
}

func sparqlFormatCommand(e *env, source labelSource) *cobra.Command {
	c, r := newSPARQL(e, "format", "print queries in the canonical layout", "Prints a query in the canonical layout, on request with labels.", source)
	labels := c.choice("labels", "", "`how` labels are shown: comment (at the end of the line) or replace (in place of the IDs)",
		"comment\tat the end of the line", "replace\tin place of the IDs")
	c.fs.StringVar(&r.language, "language", "en", "`language` of labels")
	c.fs.BoolVar(&r.oneLine, "one-line", false, "print all on one line; this drops comments and says so")
	c.fs.BoolVar(&r.url, "url", false, "print a link to the query service's page")
	c.fs.BoolVar(&r.posting, "posting", false, "print the posting form, which is safe in a wiki template")
	return c.command(func(ctx context.Context, files []string) int {
		if r.labels = *labels; r.posting && (r.oneLine || r.url || r.labels == "replace") {
			return misuse(e, "sparql format: --posting goes only with --labels comment")
		}
		return r.run(ctx, e, files)
	})
}

func sparqlRewriteCommand(e *env) *cobra.Command {
	c, r := newSPARQL(e, "rewrite", "rewrite queries for another engine", "Prints the same query for another engine, with notes about what was changed.", nil)
	to := c.choice("to", "", "`engine` to write for: standard, qlever or wdqs (required)",
		"standard\tany engine for SPARQL 1.1", "qlever\tQLever", "wdqs\tWikidata's query service")
	c.fs.StringVar(&r.rewrite.Language, "language", "en", "`language` that replaces [AUTO_LANGUAGE]")
	c.fs.BoolVar(&r.rewrite.DropMWAPI, "drop-mwapi", false, "leave out calls of wikibase:mwapi instead of failing")
	c.fs.BoolVar(&r.rewrite.Distinct, "distinct", false, "make it SELECT DISTINCT")
	c.fs.BoolVar(&r.rewrite.Entities, "entities", false, "also select ?x where only ?xLabel is selected")
	c.fs.BoolVar(&r.rewrite.Labels, "add-labels", false, "with --to wdqs: add labels of the selected entities")
	return c.command(func(ctx context.Context, files []string) int {
		if r.to = *to; r.to == "" {
			return misuse(e, "sparql rewrite: for which engine? add --to standard, --to qlever or --to wdqs")
		}
		return r.run(ctx, e, files)
	})
}

func sparqlExplainCommand(e *env, source labelSource) *cobra.Command {
	c, r := newSPARQL(e, "explain", "say in plain words what queries ask", "Says in plain words what a query asks.", source)
	c.fs.StringVar(&r.language, "language", "en", "`language` of labels")
	return c.command(func(ctx context.Context, files []string) int { return r.run(ctx, e, files) })
}

// run handles the files.
func (c *sparqlRun) run(ctx context.Context, e *env, files []string) int {
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, f := range files {
		if err := c.file(ctx, f); err != nil {
			_ = c.out.Flush() // the error below matters more
			return fail(e, fmt.Errorf("sparql %s: %w", c.action, err))
		}
	}
	if err := c.out.Flush(); err != nil {
		return fail(e, fmt.Errorf("sparql %s: cannot write the output: %w", c.action, err))
	}
	if c.failed {
		return exitFailed
	}
	return exitOK
}

// file handles one input; the error is one of reading or writing.
func (c *sparqlRun) file(ctx context.Context, name string) error {
	r := c.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	if c.json {
		return c.lines(ctx, r)
	}
	b, err := io.ReadAll(io.LimitReader(r, sparql.MaxLength+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return c.text(ctx, name, string(b))
}

// sparqlLine is a line of output; absent parts are left out.
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

// sparqlError is a mistake in a query.
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

// lines handles JSON lines.
func (c *sparqlRun) lines(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	enc := json.NewEncoder(c.out)
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

func (c *sparqlRun) line(ctx context.Context, line []byte, n int) *sparqlLine {
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
		return out
	}
	c.one(ctx, *in.SPARQL, out)
	return out
}

// fail puts an error into a line, with the place when it has one.
func (c *sparqlRun) fail(out *sparqlLine, err error) {
	c.failed = true
	var all sparql.Errors
	var one *sparql.Error
	switch {
	case c.action == "rewrite":
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
	if c.action == "check" {
		no := false
		out.OK = &no
	}
}

// one handles one query.
func (c *sparqlRun) one(ctx context.Context, query string, out *sparqlLine) {
	if c.action == "rewrite" {
		w, err := rewrite.Query(query, rewrite.Target(c.to), c.rewrite)
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
	switch c.action {
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

func (c *sparqlRun) check(q *sparql.Query, out *sparqlLine) {
	yes := true
	m := measure.Query(q)
	ids := sparql.Identifiers(q)
	entities, properties, features := sparql.IDs(ids, false), sparql.IDs(ids, true), measure.Features(q)
	out.OK, out.Form, out.Metrics, out.Entities, out.Properties, out.Features = &yes, q.Form.String(), &m, &entities, &properties, &features
	out.Pattern, out.Problems = measure.Shape(q), sparqlcheck.Query(q, c.allow)
}

func (c *sparqlRun) format(ctx context.Context, q *sparql.Query, out *sparqlLine) error {
	var label func(string) string
	if c.labels != "" {
		var err error
		if label, err = c.labelsOf(ctx, q); err != nil {
			return err
		}
	}
	if c.posting {
		s, err := sparql.PostingForm(q.Text, label)
		out.SPARQL = s
		return err
	}
	out.SPARQL = sparql.Print(q, sparql.PrintOptions{Label: label, Replace: c.labels == "replace", OneLine: c.oneLine})
	if c.oneLine && q.HasComments() {
		out.Notes = append(out.Notes, "comments dropped")
	}
	if c.labels == "replace" {
		out.Notes = append(out.Notes, "with labels in place of numbers this is for reading, not for running")
	}
	if c.url {
		out.SPARQL = sparql.URL(out.SPARQL)
	}
	return nil
}

func (c *sparqlRun) labelsOf(ctx context.Context, q *sparql.Query) (func(string) string, error) {
	var ids []string
	for _, i := range sparql.Identifiers(q) {
		ids = append(ids, i.ID)
	}
	m, err := c.source(ctx, ids, []string{c.language, "mul", "en"})
	if err != nil {
		return nil, fmt.Errorf("reading labels: %w", err)
	}
	return func(id string) string { return m[id] }, nil
}

// cached asks for each label once.
func cached(source labelSource) labelSource {
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

// text handles one query as plain text.
func (c *sparqlRun) text(ctx context.Context, name, query string) error {
	out := &sparqlLine{}
	c.one(ctx, query, out)
	if name == "-" {
		name = "query"
	}
	switch e := out.Error.(type) {
	case string:
		fmt.Fprintf(c.stderr, "%s: %s\n", name, strings.ReplaceAll(e, "\n", "\n\t"))
		return nil
	case sparqlError:
		for _, e := range append([]sparqlError{e}, out.Errors...) {
			fmt.Fprintf(c.stderr, "%s:%d:%d: %s\n", name, e.Line, e.Column, e.Message)
			if e.Hint != "" {
				fmt.Fprintf(c.stderr, "\t%s\n", e.Hint)
			}
		}
		return nil
	}
	if c.action == "check" {
		return c.report(name, out)
	}
	for _, n := range out.Notes {
		fmt.Fprintf(c.stderr, "%s: %s\n", name, n)
	}
	_, err := fmt.Fprintln(c.out, strings.TrimRight(out.SPARQL+out.Text, "\n"))
	return err
}

// report prints the result of check for people.
func (c *sparqlRun) report(name string, out *sparqlLine) error {
	fmt.Fprintf(c.out, "%s: %s query, %d clauses, %d triples; %s\n", name, out.Form, out.Metrics.Clauses, out.Metrics.Relations, strings.Join(*out.Features, ", "))
	for _, p := range out.Problems {
		fmt.Fprintf(c.out, "%s:%d:%d: %s\n", name, p.Line, p.Column, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(c.out, "\t%s\n", p.Hint)
		}
	}
	return nil
}

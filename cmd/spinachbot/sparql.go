package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

const sparqlUsage = `usage: spinachbot sparql check|format|rewrite|explain [flags] [FILE]...

Reads queries in the dialect of Wikidata's query service: each FILE is one query, standard input when none is named or for -. With --json, FILEs hold one
JSON object a line, {"id":…,"sparql":"…"}, and so does the output; every line for an input that failed carries "error".

check    whether it parses and what is probably wrong; --json adds form, metrics, entities, properties, features and the normalised pattern
format   the canonical layout, with labels beside the numbers if wanted
rewrite  the same query for another engine, with notes of what was done
explain  what the query asks, in plain words

The exit status is 1 when any input failed, 2 for wrong usage.

flags:
`

// labelSource gives the labels of Q, P and L numbers in the first of the languages that has one.
type labelSource func(ctx context.Context, ids, languages []string) (map[string]string, error)

// sparqlCommand is one call of the command.
type sparqlCommand struct {
	action   string
	json     bool
	labels   string
	language string
	oneLine  bool
	url      bool
	posting  bool
	to       string
	rewrite  sparql.RewriteOptions
	source   labelSource
	stdin    io.Reader
	out      *bufio.Writer
	stderr   io.Writer
	failed   bool
	reader   sparql.Reader
	allow    func(iri string) bool // of check; nil for any
}

// runSPARQL is the command "sparql". Labels come from the built-in graph.
func runSPARQL(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var graph interface {
		Labels(ctx context.Context, ids, languages []string) (map[string]string, error)
	}
	return runSPARQLWith(ctx, args, stdin, stdout, stderr, func(ctx context.Context, ids, languages []string) (map[string]string, error) {
		if graph == nil { // opened when the first label is wanted
			g, err := builtinGraph(time.Now)
			if err != nil {
				return nil, err
			}
			graph = g
		}
		return graph.Labels(ctx, ids, languages)
	})
}

// runSPARQLWith is the command with labels from elsewhere.
func runSPARQLWith(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, source labelSource) int {
	c := &sparqlCommand{source: cached(source), stdin: stdin, out: bufio.NewWriter(stdout), stderr: stderr}
	fs := flag.NewFlagSet("sparql", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {}
	fs.BoolVar(&c.json, "json", false, "JSON lines in and out")
	fs.StringVar(&c.labels, "labels", "", "format: labels as comments at the line's end (comment), or in place of the numbers (replace)")
	fs.StringVar(&c.language, "language", "en", "language of labels, and what rewrite puts for [AUTO_LANGUAGE]")
	fs.Func("services", "check: the only addresses that SERVICE and FROM may name, separated by commas; \"\" for none (default: any)", func(s string) error {
		listed := strings.Split(s, ",")
		c.allow = func(iri string) bool { return iri != "" && slices.Contains(listed, iri) }
		return nil
	})
	fs.BoolVar(&c.oneLine, "one-line", false, "format: all on one line; drops comments and says so")
	fs.BoolVar(&c.url, "url", false, "format: as a link to the query service's page")
	fs.BoolVar(&c.posting, "posting", false, "format: the posting form, safe in a wiki template")
	fs.StringVar(&c.to, "to", "", "rewrite: standard, qlever or wdqs")
	fs.BoolVar(&c.rewrite.DropMWAPI, "drop-mwapi", false, "rewrite: leave calls of wikibase:mwapi out instead of failing")
	fs.BoolVar(&c.rewrite.Distinct, "distinct", false, "rewrite: SELECT DISTINCT")
	fs.BoolVar(&c.rewrite.Entities, "entities", false, "rewrite: project ?x too where only ?xLabel is projected")
	fs.BoolVar(&c.rewrite.Labels, "add-labels", false, "rewrite --to wdqs: add labels of projected entities")
	files, code, done := c.parse(fs, args, stdout)
	if done {
		return code
	}
	for _, f := range files {
		if err := c.file(ctx, f); err != nil {
			_ = c.out.Flush() // the error below matters more
			fmt.Fprintln(stderr, "spinachbot sparql:", err)
			return exitFailed
		}
	}
	if err := c.out.Flush(); err != nil {
		fmt.Fprintln(stderr, "spinachbot sparql: writing the output:", err)
		return exitFailed
	}
	if c.failed {
		return exitFailed
	}
	return exitOK
}

// parse reads the command line; done says that there is nothing left to do.
func (c *sparqlCommand) parse(fs *flag.FlagSet, args []string, stdout io.Writer) (files []string, code int, done bool) {
	help := func(w io.Writer) {
		fmt.Fprint(w, sparqlUsage)
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	var words []string
	for rest := args; ; {
		if err := fs.Parse(rest); errors.Is(err, flag.ErrHelp) {
			help(stdout)
			return nil, exitOK, true
		} else if err != nil {
			return nil, exitUsage, true
		}
		if fs.NArg() == 0 {
			break
		}
		words = append(words, fs.Arg(0))
		rest = fs.Args()[1:]
	}
	problem := ""
	switch {
	case len(words) == 0:
		help(c.stderr)
		return nil, exitUsage, true
	case words[0] != "check" && words[0] != "format" && words[0] != "rewrite" && words[0] != "explain":
		problem = fmt.Sprintf("there is no %q; say check, format, rewrite or explain", words[0])
	case words[0] == "rewrite" && c.to != "standard" && c.to != "qlever" && c.to != "wdqs":
		problem = "say --to standard, --to qlever or --to wdqs"
	case c.labels != "" && c.labels != "comment" && c.labels != "replace":
		problem = "--labels takes comment or replace"
	case c.posting && (c.oneLine || c.url || c.labels == "replace"):
		problem = "--posting goes with --labels comment only"
	}
	if problem != "" {
		fmt.Fprintln(c.stderr, "spinachbot sparql:", problem)
		return nil, exitUsage, true
	}
	c.action, files = words[0], words[1:]
	c.rewrite.Language = c.language
	if len(files) == 0 {
		files = []string{"-"}
	}
	return files, exitOK, false
}

// file handles one input; the error is one of reading or writing.
func (c *sparqlCommand) file(ctx context.Context, name string) error {
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
	ID         json.RawMessage  `json:"id"`
	OK         *bool            `json:"ok,omitempty"`
	Form       string           `json:"form,omitempty"`
	SPARQL     string           `json:"sparql,omitempty"`
	Text       string           `json:"text,omitempty"`
	Notes      []string         `json:"notes,omitempty"`
	Metrics    *sparql.Metrics  `json:"metrics,omitempty"`
	Entities   *[]string        `json:"entities,omitempty"`
	Properties *[]string        `json:"properties,omitempty"`
	Features   *[]string        `json:"features,omitempty"`
	Pattern    string           `json:"pattern,omitempty"`
	Problems   []sparql.Problem `json:"problems,omitempty"`
	Error      any              `json:"error,omitempty"`
	Errors     []sparqlError    `json:"errors,omitempty"`
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
func (c *sparqlCommand) lines(ctx context.Context, r io.Reader) error {
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

func (c *sparqlCommand) line(ctx context.Context, line []byte, n int) *sparqlLine {
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
		c.fail(out, fmt.Errorf("line %d is not a JSON object with id and sparql: %w", n, err))
		return out
	}
	c.one(ctx, *in.SPARQL, out)
	return out
}

// fail puts an error into a line, with the place when it has one.
func (c *sparqlCommand) fail(out *sparqlLine, err error) {
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
func (c *sparqlCommand) one(ctx context.Context, query string, out *sparqlLine) {
	if c.action == "rewrite" {
		w, err := sparql.Rewrite(query, sparql.Target(c.to), c.rewrite)
		if err != nil {
			c.fail(out, err)
			return
		}
		out.SPARQL, out.Notes = w.Text, w.Notes
		return
	}
	q, err := c.reader.Parse(query)
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
			out.Text = sparql.Explain(q, label)
		}
	}
	if err != nil {
		c.fail(out, err)
	}
}

func (c *sparqlCommand) check(q *sparql.Query, out *sparqlLine) {
	yes := true
	m := sparql.Measure(q)
	ids := sparql.Identifiers(q)
	entities, properties, features := sparql.IDs(ids, false), sparql.IDs(ids, true), sparql.Features(q)
	out.OK, out.Form, out.Metrics, out.Entities, out.Properties, out.Features = &yes, q.Form.String(), &m, &entities, &properties, &features
	out.Pattern, out.Problems = sparql.Shape(q), sparql.Check(q, c.allow)
}

func (c *sparqlCommand) format(ctx context.Context, q *sparql.Query, out *sparqlLine) error {
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

func (c *sparqlCommand) labelsOf(ctx context.Context, q *sparql.Query) (func(string) string, error) {
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
func (c *sparqlCommand) text(ctx context.Context, name, query string) error {
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
func (c *sparqlCommand) report(name string, out *sparqlLine) error {
	fmt.Fprintf(c.out, "%s: %s query, %d clauses, %d triples; %s\n", name, out.Form, out.Metrics.Clauses, out.Metrics.Relations, strings.Join(*out.Features, ", "))
	for _, p := range out.Problems {
		fmt.Fprintf(c.out, "%s:%d:%d: %s\n", name, p.Line, p.Column, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(c.out, "\t%s\n", p.Hint)
		}
	}
	return nil
}

// Package tool implements what a model can do, one tool per file. A tool consists of a name, a schema for the
// arguments, a description for the model, and a function that runs a call. Tools are values: a preset selects tools,
// and a protocol converts a model's message to tool calls.
//
//	tool.go        what a tool is, and the set of tools that a preset offers
//	typed.go end.go            tools whose arguments are a struct; the end of a run
//	env.go         the environment that a tool uses
//	search.go entry.go examples.go sparql.go stop.go    the tools of the SPINACH paper
//	retrieve.go generated.go   SPARQL-LLM's tools: look things up, check a query and run it
//	kbqa*.go       the tools of Interactive-KBQA, for graphs that use IRIs and for the graphs of its data sets
//	dialect.go diagnose.go    query text, and why a query returns nothing
//	survey.go and the files that it names    our own tools: names, profiles, statements, classes, labels
//	best.go and the files that it names    the tools of the best preset
//	language.go    languages by code and name
//	record.go      a graph that writes every call to the log
//	notes.go       a note-taker's tools
//
// All texts for models are in texts/.
//
// The package has more than 6,000 lines: the tools of five systems share one environment but hardly call each other.
// Separate packages would all need access to the environment's internals.
package tool

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Tool is a tool that a model can call.
type Tool struct {
	Name   string          // name that the model writes
	Text   string          // name of the file in texts/ that describes the tool to the model
	Schema json.RawMessage // JSON schema of the arguments (an object), in the strict form
	Input  string          // name of the argument that receives the text protocol's single argument
	about  string          // description of Input, for the schema
	Query  bool            // the tool runs a SPARQL query; if there is an Input, it is the query

	Final bool // a query that returns something is the answer and ends the run

	// Asks returns the query of a call and its graph, which is "" for the main graph. Asks is nil if Input is the query
	// and the graph is always the main graph.
	Asks func(args json.RawMessage) (query, graph string)

	// End returns the meaning of a call that ends the run; Run is then nil. End is nil for a tool that does not end the
	// run. The error tells the model what is wrong with the arguments.
	End func(args json.RawMessage) (End, error)
	// Flag is the name of the argument that declares that there is no answer. It is "" if the first words of the text
	// protocol's argument do so.
	Flag string
	// OnQuery returns the arguments that end the run with a query. It is nil if the arguments do not include a query.
	OnQuery func(query string) json.RawMessage

	// FromText converts the text protocol's single argument to the tool's arguments. It is nil if that argument is Input.
	// It cannot fail: it ignores what it cannot parse.
	FromText func(text string) json.RawMessage
	// Raw means that FromText gets everything between the first and the last parenthesis of the action, unchanged,
	// because the tool parses the quotation marks.
	Raw bool
	// Show returns what people see between the parentheses of a call. It is nil if that is Input.
	Show func(args json.RawMessage) string
	// Key returns the key by which calls are compared. If it is nil, the key is the result of Show with white space
	// collapsed.
	Key func(args json.RawMessage) string
	// Run runs a call. If it fails in a way that the model can correct, the Result contains the kind of failure; an error
	// ends the run.
	Run func(ctx context.Context, env *Env, args json.RawMessage) (Result, error)

	check func(args json.RawMessage) error // for a tool with arguments other than Input
	forms map[form]json.RawMessage         // other forms of Schema; see [Tool.Parameters]
}

// Ends reports whether the tool ends the run.
func (t *Tool) Ends() bool { return t.End != nil }

// BadCall is the failure kind for a call that does not name a tool, or whose arguments do not match the schema.
const BadCall kg.Kind = "bad_call"

// NotShown is the failure kind for a query that was not run because it contains IDs that the model has not been shown.
const NotShown kg.Kind = "not_shown"

// Advice is the name of a hint that the model is shown in full only once.
type Advice string

// Result is the result of a call.
type Result struct {
	Text    string
	Failure kg.Kind // "" for a success
	// the pause requested by the graph's service when it failed, or 0
	RetryAfter time.Duration
	Query      string // the query that was executed, in a form that can be executed again; "" if that is the tool's Input
	KG         string // the graph for Query, or "" for the main graph
	Rows       int    // number of rows that an executed query returned
	Found      bool   // an executed query returned rows or a truth value
	Empty      bool   // the call succeeded, but there is nothing to show: no hits, no rows
	// the rows of an executed query, for [RowsName]; may be nil
	Table  *kg.Table
	Short  string // an executed query's truth value or only row, if it is small
	Advice Advice // the hint that Text contains in full
	// the IRIs that Text shows, if not all of them are written as IDs
	Shown []string
}

//go:embed texts
var textFiles embed.FS

var texts = render.MustTexts(textFiles, "texts/*.tmpl", "texts/*.md")

func say(name string, data any) string { return texts.Say(name, data) }

// Words contains the names and numbers used in the tools' descriptions.
type Words struct {
	Search, Entry, Examples, Execute, Stop string
	Show
}

// words returns the data for a tool's description.
func words(s Show) Words {
	return Words{SearchName, EntryName, ExamplesName, ExecuteName, StopName, s}
}

// Describe returns the tool's description for the model.
func (t *Tool) Describe(s Show) string { return say(t.Text, words(s)) }

// Arguments parses the text protocol's single argument into the tool's arguments.
func (t *Tool) Arguments(text string) json.RawMessage {
	if t.FromText != nil {
		return t.FromText(text)
	}
	if t.Input == "" { // the text must be JSON
		if text = strings.TrimSpace(text); text == "" {
			return json.RawMessage("{}")
		}
		return json.RawMessage(text)
	}
	if _, err := t.input(json.RawMessage(text)); err == nil {
		return json.RawMessage(text)
	}
	b, err := render.JSON(map[string]string{t.Input: text})
	if err != nil {
		return nil
	}
	return b
}

// Shown returns what people see between the parentheses of a call: the input if there is no other argument, otherwise
// the arguments as JSON.
func (t *Tool) Shown(args json.RawMessage) string {
	if t.Show != nil {
		return t.Show(args)
	}
	var m map[string]any
	if json.Unmarshal(args, &m) == nil {
		if s, ok := m[t.Input].(string); ok && len(m) == 1 {
			return s
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}

// KeyOf returns the key by which calls are compared, including calls to different tools.
func (t *Tool) KeyOf(args json.RawMessage) string {
	if t.Key != nil {
		return t.Name + " " + t.Key(args)
	}
	return t.Name + " " + render.Fold(t.Shown(args))
}

// decode parses arguments into v. The error tells the model what is wrong with the arguments.
func decode(args json.RawMessage, v any) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			return errors.New("there is more than one JSON value")
		}
		return nil
	}
	return text.JSON(err)
}

// input parses the arguments of a tool that has only Input.
func (t *Tool) input(args json.RawMessage) (string, error) {
	if len(args) > maxArguments {
		return "", errTooLong(len(args))
	}
	var m map[string]*string
	if err := decode(args, &m); err != nil {
		return "", err
	}
	for k := range m {
		if k != t.Input {
			return "", fmt.Errorf("unknown argument %q; the argument is %q", render.Clip(k, 60), t.Input)
		}
	}
	if m[t.Input] == nil || strings.TrimSpace(*m[t.Input]) == "" {
		return "", fmt.Errorf("the argument %q is missing", t.Input)
	}
	return strings.TrimSpace(*m[t.Input]), nil
}

// Check returns an error that tells the model what is wrong with a call's arguments, or nil.
func (t *Tool) Check(args json.RawMessage) error {
	if t.check != nil {
		return t.check(args)
	}
	_, err := t.input(args)
	return err
}

// onInput completes a tool that has only Input. key returns the key by which inputs are compared.
func onInput(t *Tool, key func(input string) string, run func(ctx context.Context, env *Env, input string) (Result,
	error)) *Tool {
	t.Schema = schema(t.Input, t.about)
	t.Key = func(args json.RawMessage) string {
		in, err := t.input(args)
		if err != nil {
			return string(args)
		}
		return key(in)
	}
	t.Run = func(ctx context.Context, env *Env, args json.RawMessage) (Result, error) {
		in, err := t.input(args)
		if err != nil {
			return Result{Text: say("bad_arguments", err.Error()), Failure: kg.QueryFailed}, nil
		}
		return run(ctx, env, in)
	}
	return t
}

// schema returns the schema of an object with a single string property.
func schema(name, about string) json.RawMessage {
	return encoded(map[string]any{"type": "object", "additionalProperties": false, "required": []string{name},
		"properties": map[string]any{name: map[string]string{"type": "string", "description": about}}})
}

// Set is a preset's tools, in the order in which the model sees them.
type Set []*Tool

// all lists every tool.
var all = slices.Concat(Set{searchTool, entryTool, examplesTool, executeTool, stopTool}, graspTools, surveyTools,
	bestTools, generateTools, noteTools, kbqaTools)

// Select returns the tools with these names.
func Select(names []string) (Set, error) {
	var out Set
	for _, n := range names {
		t := all.Find(n)
		if t == nil {
			return nil, fmt.Errorf("there is no tool %q; the tools are %s", n, strings.Join(all.Names(), ", "))
		}
		out = append(out, t)
	}
	return out, nil
}

// Find returns the tool with this name, or nil. If no name matches exactly, case is ignored.
func (s Set) Find(name string) *Tool {
	for _, t := range s {
		if t.Name == name {
			return t
		}
	}
	for _, t := range s {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// Ending returns the tools that end the run.
func (s Set) Ending() Set {
	var out Set
	for _, t := range s {
		if t.Ends() {
			out = append(out, t)
		}
	}
	return out
}

// Names returns the tools' names.
func (s Set) Names() []string {
	out := make([]string, len(s))
	for i, t := range s {
		out[i] = t.Name
	}
	return out
}

// List formats the names as part of a sentence: "a, b and c".
func (s Set) List() string {
	n := s.Names()
	if len(n) < 2 {
		return strings.Join(n, "")
	}
	return strings.Join(n[:len(n)-1], ", ") + " and " + n[len(n)-1]
}

// Either formats the names as alternatives: "a, b or c".
func (s Set) Either() string {
	n := s.Names()
	if len(n) < 2 {
		return strings.Join(n, "")
	}
	return strings.Join(n[:len(n)-1], ", ") + " or " + n[len(n)-1]
}

// Describe returns the tools' descriptions.
func (s Set) Describe(show Show) []string {
	out := make([]string, len(s))
	for i, t := range s {
		out[i] = t.Describe(show)
	}
	return out
}

// Summary describes the result of a call in a few words, without any text from the graph: "12 rows", "no rows",
// "failed: timeout". It returns "" if there is nothing to report.
func (res Result) Summary(t *Tool) string {
	switch {
	case res.Failure != "":
		return say("came_failed", string(res.Failure))
	case !t.Query:
		return ""
	case !res.Found:
		return say("came_empty", nil)
	case res.Rows > 0:
		return say("came_rows", res.Rows)
	}
	return say("came_truth", nil)
}

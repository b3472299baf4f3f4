package agent

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// compare checks what the model says against what was found, after the model has proofread it. If an answer's text
// contains unsupported claims that the model was not asked about before, the model corrects it once; sentences that are
// still unsupported are removed. The model states in its own words what it assumed, what it left open, and why there is
// no answer. In these texts, only figures and names are checked. What it assumed and left open may also be corrected
// once.
func (r *run) compare(ctx context.Context, b *event.Branch, out *Outcome) error {
	if out.Answer == nil {
		seen := []string{r.Question.Text, out.Detail}
		for _, s := range r.state.Steps() {
			seen = append(seen, s.Argument, s.Observation)
		}
		c := faithful.New(faithful.Evidence{Question: strings.Join(seen, "\n"), Language: r.Language.Code})
		before := out.Short
		_, err := r.proofread(ctx, b, out, nil, unnamed(c, before))
		if out.Short = named(c, out.Short); out.Short == "" {
			out.Short = named(c, before)
		}
		out.Report = out.Short
		return err
	}
	a := *out.Answer
	out.Asked = r.Question.Text
	if thread := r.Question.Thread; thread != nil { // the question may lack the poster's query
		out.Asked += "\n" + strings.Join(thread.Queries, "\n")
	}
	c, notes := Checker(out.Asked, &a, r.Language.Code), r.noteChecker(&a, out.Asked)
	before, notesBefore := out.Short, []string{a.Assumed, a.Open}
	asked := slices.Concat(c.Faults(out.Short), unnamed(notes, a.Assumed), unnamed(notes, a.Open))
	told, err := r.proofread(ctx, b, out, &a, asked)
	if err != nil {
		return err
	}
	if !told {
		asked = nil
	}
	if out.Short, err = r.supported(ctx, b, &a, out.Short, asked, c.Faults, c.Keep); err != nil {
		return err
	}
	if out.Short == "" {
		out.Short = c.Keep(before)
	}
	for i, note := range []*string{&a.Assumed, &a.Open} {
		removed := *note == ""
		*note, err = r.supported(ctx, b, &a, *note, asked, func(s string) []faithful.Fault { return unnamed(notes, s) },
			func(s string) string { return named(notes, s) })
		if err != nil {
			return err
		}
		if *note == "" && !removed { // the proofread note is unsupported
			*note = named(notes, notesBefore[i])
		}
	}
	a.Headers = headers(c, a.Headers)
	out.Answer = &a
	parts := slices.DeleteFunc([]string{out.Short, a.Assumed, a.Open}, func(s string) bool { return s == "" })
	out.Report = said(strings.Join(parts, " "))
	return nil
}

// Checker returns a checker that compares texts with an answer to a question.
func Checker(question string, a *Answer, language string) *faithful.Checker {
	return faithful.New(evidence(question, a, language))
}

func evidence(question string, a *Answer, language string) faithful.Evidence {
	return faithful.Evidence{Question: question, Query: a.SPARQL, Table: a.Table, Labels: a.Labels, Language: language}
}

// named returns the sentences in a text whose figures and names are supported.
func named(c *faithful.Checker, text string) string {
	var kept []string
	for _, s := range c.Sentences(text) {
		if len(unnamed(c, s)) == 0 {
			kept = append(kept, s)
		}
	}
	return c.Join(kept)
}

// unnamed returns the figures and names in a text that are not supported.
func unnamed(c *faithful.Checker, text string) []faithful.Fault {
	return slices.DeleteFunc(c.Faults(text), func(f faithful.Fault) bool { return f.Kind == faithful.Word })
}

// noteChecker returns a checker for notes on an answer. A note may describe what the result does not contain, so it
// may also use the labels, names, codes and counts that the model was shown.
func (r *run) noteChecker(a *Answer, question string) *faithful.Checker {
	e := evidence(question, a, r.Language.Code)
	e.Labels = LabelsIn(r.state.Steps())
	maps.Copy(e.Labels, a.Labels)
	for _, s := range r.state.Steps() {
		e.Shown += s.Observation + "\n"
	}
	return faithful.New(e)
}

// The two ways in which observations name an entity: label (Q1) and Q1 (label).
var (
	labelBefore = regexp.MustCompile(`((?:[^\n;:,()"→|]|[:,]\S|\(s\)){1,80}) \(([QP][1-9]\d{0,10})\)`)
	labelAfter  = regexp.MustCompile(`([QP][1-9]\d{0,10})(?:: | \()"?((?:[^\n;:,()"→|]|[:,]\S|\(s\)){1,80})`)
)

// LabelsIn returns the labels in the observations of steps, by ID.
func LabelsIn(steps []Step) map[string]string {
	names := map[string]string{}
	for _, s := range steps {
		for _, m := range labelAfter.FindAllStringSubmatch(s.Observation, -1) {
			names[m[1]] = strings.TrimSpace(m[2])
		}
	}
	maps.DeleteFunc(names, func(_, label string) bool { return label == "no label" || strings.HasPrefix(label, "@") })
	for _, s := range steps {
		for _, m := range labelBefore.FindAllStringSubmatch(s.Observation, -1) {
			label := strings.TrimPrefix(strings.TrimSpace(m[1]), "- ") // in a list of values
			label = strings.TrimPrefix(label, "has no statement of ")
			names[m[2]] = strings.TrimPrefix(label, "property ") // in a list of hits
		}
	}
	return names
}

// supported returns the part of a text about an answer that is supported, after the model had a chance to correct it.
// asked contains the faults that the model has already had that chance for. faults and keep check a text.
func (r *run) supported(ctx context.Context, b *event.Branch, a *Answer, text string, asked []faithful.Fault,
	faults func(string) []faithful.Fault, keep func(string) string) (string, error) {
	kept, found := keep(text), faults(text)
	same := func(f faithful.Fault) bool {
		return slices.ContainsFunc(asked, func(x faithful.Fault) bool { return x.Piece == f.Piece && x.Kind == f.Kind })
	}
	if !slices.ContainsFunc(found, func(f faithful.Fault) bool { return !same(f) }) {
		return kept, nil
	}
	again, err := r.correct(ctx, b, a, text, found)
	if again = keep(said(again)); len(again) >= len(kept) {
		kept = again
	}
	return kept, err
}

// maxHeader is the maximum number of characters in a table header that the model wrote.
const maxHeader = 40

// headers returns the table headers whose figures and names are supported, and which are short enough for a table. Like
// a variable's name, which would be shown otherwise, a header may contain any other words.
func headers(c *faithful.Checker, all map[string]string) map[string]string {
	out := map[string]string{}
	for column, h := range all {
		if utf8.RuneCountInString(h) <= maxHeader && !strings.ContainsAny(h, "\n\r") && h != "" && len(unnamed(c, h)) == 0 {
			out[column] = h
		}
	}
	return out
}

// correct asks the model to rewrite a text about an answer. It returns "" if the model fails.
func (r *run) correct(ctx context.Context, b *event.Branch, a *Answer, text string, faults []faithful.Fault) (
	string, error) {
	rest := slices.DeleteFunc([]string{a.Assumed, a.Open}, func(s string) bool { return s == "" || s == text })
	again, ok, err := r.Help(ctx, b, tool.Task{Purpose: "correct", MaxTokens: 1000, Data: map[string]any{"Text": text,
		"Faults": faults, "SPARQL": a.SPARQL, "Result": r.Preset.Show.Rows.Table(a.Table, a.Names()),
		"Named": r.Preset.Show.Rows.Named(a.Table, a.Names(), text), "Rest": strings.Join(rest, " "),
		"Note": text == a.Assumed || text == a.Open}})
	var h *event.Halt
	if errors.As(err, &h) {
		return "", nil // the answer is valid without the text
	}
	if err != nil || !ok {
		return "", err
	}
	return again, nil
}

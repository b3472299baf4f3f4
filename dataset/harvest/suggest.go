package harvest

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// The prompts are in prompts/. All text from outside is enclosed in tags. In discussions and labels, angle brackets are
// escaped. In the query and the rows, any text that looks like one of our tags is escaped.
//
//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = template.Must(template.New("").Funcs(template.FuncMap{"escape": text.EscapeTags,
	"attribute": text.EscapeAttribute, "guard": guardTags}).ParseFS(promptFiles, "prompts/*.tmpl"))

var ourTags = regexp.MustCompile(`(?i)<(/?\s*(?:query|labels|result|proposed|found|discussion|post)\b)`)

func guardTags(s string) string { return ourTags.ReplaceAllString(printable(s), "&lt;$1") }

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// Limits on the text shown to the model, in characters. Longer text is cut off, and a marker shows where.
const (
	maxPromptQuery = 12_000
	maxPromptRows  = 4_000
	maxPromptPost  = 1_500
	maxPromptPosts = 12
	maxVerbal      = 1_500 // of a question in the model's answer
)

// Advisor is a [Suggester] that asks a language model.
type Advisor struct {
	Model    string // the model's name, stored with its advice
	Complete func(ctx context.Context, system, user string) (string, error)
}

// Suggest asks the model. The error wraps ErrUnusable if the model's answer is not JSON or does not match the query,
// since no advice is better than wrong advice.
func (a *Advisor) Suggest(ctx context.Context, c *dataset.Candidate) (*dataset.Suggestion, error) {
	system, user, err := Prompt(c)
	if err != nil {
		return nil, err
	}
	text, err := a.Complete(ctx, system, user)
	if err != nil {
		return nil, err
	}
	s, err := ParseSuggestion(text, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	s.Model = a.Model
	return s, nil
}

// Prompt returns the system and user messages that ask for advice about a staged candidate.
func Prompt(c *dataset.Candidate) (system, user string, err error) {
	type labelled struct{ ID, Label, Description string }
	data := struct {
		Query, Sample, Trimmed, Heading, Month, Ran string
		Rows                                        int
		Labels                                      []labelled
		Flags                                       []dataset.Flag
		Posts                                       []dataset.Comment
	}{Query: text.Clip(c.Cleaned, maxPromptQuery), Trimmed: text.Clip(c.Trimmed, maxPromptQuery),
		Heading: text.Clip(c.Provenance.Heading, 300), Month: c.Provenance.Month, Flags: c.Flags, Posts: posts(c)}
	if c.Result != nil {
		data.Rows, data.Sample, data.Ran = c.Result.Rows,
			text.Clip(rowsText(c.Result.Head, c.Result.Sample), maxPromptRows), c.Result.RanAt.Format(time.DateOnly)
	}
	for _, id := range slices.Concat(c.Entities, c.Properties) {
		if l := c.Labels[id]; l != "" {
			data.Labels = append(data.Labels, labelled{id, text.Clip(strings.Join(strings.Fields(l), " "), 200),
				text.Clip(strings.Join(strings.Fields(c.Descriptions[id]), " "), 200)})
		}
	}
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, "suggest.tmpl", nil); err != nil {
		return "", "", err
	}
	system = strings.TrimSpace(b.String())
	b.Reset()
	if err := prompts.ExecuteTemplate(&b, "candidate.tmpl", data); err != nil {
		return "", "", err
	}
	return system, strings.TrimSpace(b.String()), nil
}

// posts returns the discussion's comments, each shortened. In a long discussion, it keeps only the request and the most
// recent comments.
func posts(c *dataset.Candidate) []dataset.Comment {
	list := slices.Clone(c.Conversation.Comments)
	if n := len(list); n > maxPromptPosts {
		list = slices.Concat(list[:1], list[n-maxPromptPosts+1:])
	}
	for i := range list {
		list[i].Text = text.Clip(list[i].Text, maxPromptPost)
		if list[i].Author == "" {
			list[i].Author = "?"
		}
	}
	return list
}

// rowsText writes the sample's rows in a readable form: one row per line, as name=value, in column order.
func rowsText(columns []string, sample json.RawMessage) string {
	var rows []map[string]struct{ Value string }
	if json.Unmarshal(sample, &rows) != nil {
		return string(sample) // true or false
	}
	var b strings.Builder
	for _, r := range rows {
		sep := ""
		for _, name := range columns {
			cell, bound := r[name]
			if !bound {
				continue
			}
			v := strings.TrimPrefix(strings.Join(strings.Fields(cell.Value), " "), rdf.Entity)
			fmt.Fprintf(&b, "%s%s=%s", sep, name, text.Clip(v, 120))
			sep = " | "
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

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
)

// The words that the model reads stand in prompts/. Whatever comes from outside is put between tags, with its own angle brackets escaped (discussion, labels) or, in the
// query and the rows, with everything escaped that looks like one of our tags.
//
//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = template.Must(template.New("").Funcs(template.FuncMap{"escape": escapeText, "attribute": escapeAttribute, "guard": guardTags}).ParseFS(promptFiles, "prompts/*.tmpl"))

var (
	textEscapes      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	attributeEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", " ")
	ourTags          = regexp.MustCompile(`(?i)<(/?\s*(?:query|labels|result|proposed|found|discussion|post)\b)`)
)

func escapeText(s string) string      { return textEscapes.Replace(printable(s)) }
func escapeAttribute(s string) string { return attributeEscapes.Replace(printable(s)) }
func guardTags(s string) string       { return ourTags.ReplaceAllString(printable(s), "&lt;$1") }

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// Sizes of what the model is shown, in characters; the rest is cut, with a mark.
const (
	maxPromptQuery = 12_000
	maxPromptRows  = 4_000
	maxPromptPost  = 1_500
	maxPromptPosts = 12
	maxVerbal      = 1_500 // of an answer's question
)

// Advisor is a [Suggester] that asks a language model.
type Advisor struct {
	Model    string // its name, for the record
	Complete func(ctx context.Context, system, user string) (string, error)
}

// Suggest asks the model. An answer that is no JSON, or does not fit the query, gives nil: no advice is better than wrong advice.
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
		return nil, nil //nolint:nilerr,nilnil // an unusable answer is no failure: it is noted as no advice
	}
	s.Model = a.Model
	return s, nil
}

// Prompt writes the two messages that ask for advice about a staged candidate.
func Prompt(c *dataset.Candidate) (system, user string, err error) {
	type labelled struct{ ID, Label string }
	data := struct {
		Query, Sample, Trimmed, Heading, Month, Ran string
		Rows                                        int
		Labels                                      []labelled
		Flags                                       []dataset.Flag
		Posts                                       []dataset.Comment
	}{Query: clip(c.Cleaned, maxPromptQuery), Trimmed: clip(c.Trimmed, maxPromptQuery), Heading: clip(c.Provenance.Heading, 300), Month: c.Provenance.Month, Flags: c.Flags, Posts: posts(c)}
	if c.Result != nil {
		data.Rows, data.Sample, data.Ran = c.Result.Rows, clip(rowsText(c.Result.Sample), maxPromptRows), c.Result.RanAt.Format(time.DateOnly)
	}
	for _, id := range slices.Concat(c.Entities, c.Properties) {
		if l := c.Labels[id]; l != "" {
			data.Labels = append(data.Labels, labelled{id, clip(strings.Join(strings.Fields(l), " "), 200)})
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

// posts gives the request and the last comments of a long discussion, each cut.
func posts(c *dataset.Candidate) []dataset.Comment {
	list := slices.Clone(c.Conversation.Comments)
	if n := len(list); n > maxPromptPosts {
		list = slices.Concat(list[:1], list[n-maxPromptPosts+1:])
	}
	for i := range list {
		list[i].Text = clip(list[i].Text, maxPromptPost)
		if list[i].Author == "" {
			list[i].Author = "?"
		}
	}
	return list
}

// rowsText writes the sample's rows for reading: one a line, name=value.
func rowsText(sample json.RawMessage) string {
	var rows []map[string]struct{ Value string }
	if json.Unmarshal(sample, &rows) != nil {
		return string(sample) // true or false
	}
	var b strings.Builder
	for _, r := range rows {
		names := make([]string, 0, len(r))
		for n := range r {
			names = append(names, n)
		}
		slices.Sort(names)
		for i, n := range names {
			if i > 0 {
				b.WriteString(" | ")
			}
			v := strings.TrimPrefix(strings.Join(strings.Fields(r[n].Value), " "), rdf.Entity)
			fmt.Fprintf(&b, "%s=%s", n, clip(v, 120))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

var entityNumber = regexp.MustCompile(`\b[QPL][1-9]\d*\b`)

// ParseSuggestion reads the model's answer and holds it against the query: both questions are there, are no query, name no numbers; the verdict is one of three and has a
// reason; what is to be disambiguated is short. Text around the JSON object is passed over.
func ParseSuggestion(text string, c *dataset.Candidate) (*dataset.Suggestion, error) {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start < 0 || end < start {
		return nil, fmt.Errorf("the answer holds no JSON object")
	}
	var s dataset.Suggestion
	if err := json.Unmarshal([]byte(text[start:end+1]), &s); err != nil {
		return nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	s.Model, s.Verdict = "", dataset.Verdict(strings.ToLower(strings.TrimSpace(string(s.Verdict))))
	for _, q := range []*string{&s.Precise, &s.Natural} {
		*q = strings.Join(strings.Fields(printable(*q)), " ")
		switch {
		case len(*q) < 10 || len([]rune(*q)) > maxVerbal:
			return nil, fmt.Errorf("a question has %d bytes", len(*q))
		case strings.Contains(*q, "wdt:") || strings.Contains(strings.ToUpper(*q), "SELECT ?") || strings.ContainsAny(*q, "{}"):
			return nil, fmt.Errorf("a question holds a piece of SPARQL")
		}
		for _, id := range entityNumber.FindAllString(*q, -1) {
			if slices.Contains(c.Entities, id) || slices.Contains(c.Properties, id) {
				return nil, fmt.Errorf("a question names %s", id)
			}
		}
	}
	if !slices.Contains([]dataset.Verdict{dataset.Include, dataset.Modify, dataset.Exclude}, s.Verdict) {
		return nil, fmt.Errorf("verdict %q", s.Verdict)
	}
	s.Reasons, s.Disambiguate = short(s.Reasons, 5), short(s.Disambiguate, 10)
	if len(s.Reasons) == 0 {
		return nil, fmt.Errorf("the verdict has no reason")
	}
	return &s, nil
}

// short cleans a list of texts and cuts it to n.
func short(list []string, n int) (out []string) {
	for _, x := range list {
		if x = strings.Join(strings.Fields(printable(x)), " "); x != "" && len(out) < n {
			out = append(out, clip(x, 400))
		}
	}
	return out
}

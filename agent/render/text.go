// Package render formats what a model reads: entity pages, result tables, values, and sanitized untrusted text. It also
// shortens pages, with or without a model's answer. It does not call a graph or a model.
package render

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Texts is a set of named texts for a model. Each is a template.
type Texts struct{ t func() *template.Template }

// NewTexts parses the files in fsys that match patterns. The files may use the functions escape, attribute, guard,
// clip, fold and inc.
func NewTexts(fsys fs.FS, patterns ...string) (*Texts, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"escape": Escape, "attribute": Attribute, "guard": Guard, "clip": Clip, "fold": Fold,
		"inc": func(i int) int { return i + 1 },
	}).ParseFS(fsys, patterns...)
	if err != nil {
		return nil, err
	}
	return &Texts{func() *template.Template { return t }}, nil
}

// Clone returns a copy, to which texts can be added without changing the original.
func (t *Texts) Clone() (*Texts, error) {
	c, err := t.t().Clone()
	if err != nil {
		return nil, err
	}
	return &Texts{func() *template.Template { return c }}, nil
}

// Add parses more files. A text in these files replaces an existing text with the same name.
func (t *Texts) Add(fsys fs.FS, patterns ...string) error {
	_, err := t.t().ParseFS(fsys, patterns...)
	return err
}

// Has reports whether there is a text with this name.
func (t *Texts) Has(name string) bool { return t.t().Lookup(name) != nil }

// MustTexts is like [NewTexts], but for files embedded in the program. They are parsed when a text is first used,
// because most commands use none.
func MustTexts(fsys fs.FS, patterns ...string) *Texts {
	return &Texts{sync.OnceValue(func() *template.Template {
		t, err := NewTexts(fsys, patterns...)
		if err != nil {
			panic(err)
		}
		return t.t()
	})}
}

// Say renders the text with this name. A template that fails is a bug in the program; the returned text then reports
// the bug.
func (t *Texts) Say(name string, data any) string {
	s, err := t.Write(name, data)
	if err != nil {
		return "(text " + name + " could not be written: " + err.Error() + ")"
	}
	return s
}

// Write renders the text with this name. It returns an error if executing the template fails.
func (t *Texts) Write(name string, data any) (string, error) {
	var b strings.Builder
	if err := t.t().ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

// Clip is [text.Clip].
func Clip(s string, n int) string { return text.Clip(s, n) }

// Fold is [text.Fold].
func Fold(s string) string { return text.Fold(s) }

// Escape makes untrusted text safe inside one of our tags. It keeps line breaks.
func Escape(s string) string { return text.EscapeTags(s) }

// Attribute makes untrusted text safe as the value of a tag's attribute.
func Attribute(s string) string { return text.EscapeAttribute(s) }

var ourTag = regexp.MustCompile(`(?i)<(/?\s*(?:question|earlier|post|heading|entity|observation|notes)\b)`)

// Guard makes untrusted text safe inside an observation: anything that looks like one of our tags loses its angle
// bracket. All other angle brackets remain, since queries and error messages need them.
func Guard(s string) string { return ourTag.ReplaceAllString(Clean(s), "&lt;$1") }

// Clean removes control characters, bidirectional overrides and invalid UTF-8.
func Clean(s string) string { return text.Clean(s) }

// ID returns the entity or property ID that a text such as "Q42", "wd:q42", "<http://www.wikidata.org/entity/Q42>" or
// "Douglas Adams (Q42)" refers to, or "" if the text contains no ID or several different IDs.
func ID(s string) string {
	ids := IDs(strings.ToUpper(s))
	if len(ids) != 1 {
		return ""
	}
	return ids[0]
}

// IDs returns the distinct Q and P IDs in a text, in order of occurrence. An ID must not have a letter or digit on
// either side.
func IDs(s string) []string {
	var out []string
	for i := 0; i < len(s); i++ {
		if (s[i] != 'Q' && s[i] != 'P') || (i > 0 && wordByte(s[i-1])) {
			continue
		}
		j := i + 1
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			j++
		}
		if (j == len(s) || !wordByte(s[j])) && rdf.ValidID(s[i:j]) && !slices.Contains(out, s[i:j]) {
			out = append(out, s[i:j])
		}
		i = j - 1
	}
	return out
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}

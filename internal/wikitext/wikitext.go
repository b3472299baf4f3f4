// Package wikitext finds the structure of a page's wikitext as MediaWiki's preprocessor sees it: HTML comments, parser
// extension tags such as nowiki and syntaxhighlight, templates with their arguments, template parameters, and headings
// with MediaWiki's own section numbers.
//
// It follows the algorithm of MediaWiki's includes/parser/Preprocessor_Hash.php (preprocessToObj), because only that
// algorithm determines which section action=edit means by "section 7" on a page with unbalanced braces. Opening braces
// and brackets are pushed onto a stack, and a run of closing braces or brackets closes as many as match. A heading is a
// line that starts with an equals sign while no tag is open. Anything left open at the end is plain text.
//
// There are no errors: any byte sequence is wikitext. The time is linear in the page length. Offsets are byte offsets
// into the given text.
package wikitext

import "strings"

// Kind is the kind of a [Node].
type Kind uint8

// The kinds of nodes.
const (
	Comment Kind = iota + 1 // <!-- … -->, or up to the end of the text if unclosed
	// an extension tag with its contents: <nowiki>…</nowiki>, <syntaxhighlight lang="sparql">…</syntaxhighlight>
	Tag
	Template // {{name|…}}, including parser functions and magic words
	Param    // {{{name|default}}}
	Heading  // == … ==, a line without its newline
)

// Span is a half-open range of bytes.
type Span struct{ Start, End int }

// In returns the text in the span.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// Arg is a template argument. Name is empty (Start == End) for a positional argument. Neither name nor value is
// trimmed.
type Arg struct {
	Name, Value Span
	Named       bool
}

// Node is a structural element.
type Node struct {
	Kind       Kind
	free       bool // for a heading: no construct was open before it
	Start, End int
	Name       string // name of a template (trimmed, otherwise as written) or of a tag (lowercase)
	Attrs      Span   // for a tag: the text between its name and the closing bracket
	Inner      Span   // for a tag: its contents; for a heading: the untrimmed text between the equals signs
	Args       []Arg  // of a template
	Level      int    // level of a heading, 1 to 6
	Section    int    // for a heading: MediaWiki's section number, or 0 if MediaWiki does not treat it as a section
	Note       uint32 // for use by the caller
	Parent     int    // index of the enclosing node, or -1
}

// Doc is wikitext with its structure. Nodes are ordered by start, outer nodes before inner ones.
type Doc struct {
	Text  string
	Nodes []Node
}

// Options change how wikitext is parsed. The zero value follows MediaWiki.
type Options struct {
	// Template, if not nil, is called for every opening "{{" at offset i. If it returns true, its node is used
	// unchanged and parsing continues at the node's End. A caller can use it to parse templates whose contents would
	// otherwise end them early.
	Template func(text string, i int) (Node, bool)
}

// extensionTags are the tags whose contents MediaWiki's preprocessor does not parse, as listed on Wikidata's
// Special:Version. <translate> is omitted because the Translate extension removes it before the preprocessor runs.
var extensionTags = map[string]bool{
	"nowiki": true, "pre": true, "gallery": true, "indicator": true, "langconvert": true, "syntaxhighlight": true,
	"source": true, "ref": true, "references": true,
	"math": true, "chem": true, "ce": true, "score": true, "timeline": true, "hiero": true, "poem": true, "graph": true,
	"mapframe": true, "maplink": true,
	"templatedata": true, "templatestyles": true, "categorytree": true, "inputbox": true, "imagemap": true,
	"section": true, "charinsert": true, "phonos": true,
	"dynamicpagelist": true, "languages": true, "includeonly": true,
}

// IsExtensionTag reports whether the preprocessor treats <name …> as opaque.
func IsExtensionTag(name string) bool { return extensionTags[strings.ToLower(name)] }

// CanonicalName normalizes a template name: lowercase, single spaces, no namespace.
func CanonicalName(s string) string {
	if i := strings.Index(s, "<!--"); i >= 0 {
		s = StripComments(s)
	}
	s = strings.ToLower(strings.Join(strings.FieldsFunc(s,
		func(r rune) bool { return r == '_' || r == ' ' || r == '\n' || r == '\t' || r == '\r' }), " "))
	s = strings.TrimPrefix(s, ":")
	for _, ns := range []string{"template:", "vorlage:", "modèle:"} {
		s = strings.TrimPrefix(s, ns)
	}
	return strings.TrimSpace(s)
}

// StripComments removes HTML comments.
func StripComments(s string) string {
	i := strings.Index(s, "<!--")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		j := strings.Index(s[i+4:], "-->")
		if j < 0 {
			return b.String()
		}
		s = s[i+4+j+3:]
		i = strings.Index(s, "<!--")
	}
	b.WriteString(s)
	return b.String()
}

// Arg returns the last argument with one of the given names (positional arguments are named "1", "2", …), since
// MediaWiki uses the last one.
func (n *Node) Arg(text string, names ...string) (Arg, bool) {
	var found Arg
	ok := false
	pos := 0
	for _, a := range n.Args {
		name := ""
		if a.Named {
			name = strings.TrimSpace(StripComments(a.Name.In(text)))
		} else {
			pos++
			name = itoa(pos)
		}
		for _, want := range names {
			if strings.EqualFold(name, want) {
				found, ok = a, true
			}
		}
	}
	return found, ok
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// Section is a part of a page that can be edited separately in MediaWiki.
type Section struct {
	Number     int // number for action=edit; 0 is the part before the first heading
	Level      int
	Start, End int // a section includes its subsections
}

// Sections returns the sections of the text, starting with the lead (number 0).
func (d *Doc) Sections() []Section {
	out := []Section{{End: len(d.Text)}}
	var open []int
	for i := range d.Nodes {
		h := &d.Nodes[i]
		if h.Kind != Heading || h.Section == 0 {
			continue
		}
		if len(out) == 1 {
			out[0].End = h.Start
		}
		for len(open) > 0 && out[open[len(open)-1]].Level >= h.Level {
			out[open[len(open)-1]].End = h.Start
			open = open[:len(open)-1]
		}
		out = append(out, Section{Number: h.Section, Level: h.Level, Start: h.Start, End: len(d.Text)})
		open = append(open, len(out)-1)
	}
	return out
}

package parsoid

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// dataMW is the data-mw attribute, in which Parsoid keeps information that would be lost in rendering (mediawiki.org,
// Specs/HTML). For a transclusion, it contains a template or, if the output of adjacent templates cannot be separated,
// all of these templates and the wikitext between them.
type dataMW struct {
	Parts []json.RawMessage `json:"parts"`
	Name  string            `json:"name"` // name of an extension tag
	Attrs ordered           `json:"attrs"`
	Body  struct {
		Source *string `json:"extsrc"`
		ID     string  `json:"id"` // ID of the element that contains a reference's text
	} `json:"body"`
	Src string `json:"src"` // source of <includeonly>
}

// transclusion is a template, parser function or parameter among the parts.
type transclusion struct {
	Target struct {
		WT string `json:"wt"`
	} `json:"target"`
	Params ordered `json:"params"`
}

// ordered is a JSON object that preserves the order of its members, such as a template's parameters. Any other value is
// treated as an empty object, because PHP writes an empty object as [].
type ordered []member

type member struct {
	key   string
	value string // the string itself, or the "wt" member of an object
}

// UnmarshalJSON never fails on valid JSON; it skips values of an unexpected type.
func (o *ordered) UnmarshalJSON(b []byte) error {
	*o = nil
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil
		}
		m := member{key: key.(string)}
		if json.Unmarshal(raw, &m.value) != nil {
			var v struct {
				WT string `json:"wt"`
			}
			if json.Unmarshal(raw, &v) != nil {
				continue
			}
			m.value = v.WT
		}
		*o = append(*o, m)
	}
	return nil
}

// wikitext returns a transclusion's parts as wikitext. s provides templates as they were written.
func (d *dataMW) wikitext(s *sources) string {
	var b strings.Builder
	for _, raw := range d.Parts {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			b.WriteString(text)
			continue
		}
		var part struct {
			Template *transclusion `json:"template"`
			Function *transclusion `json:"parserfunction"` // in newer versions
			Arg      *transclusion `json:"templatearg"`
		}
		err := json.Unmarshal(raw, &part)
		if part.Template == nil {
			part.Template = part.Function
		}
		switch {
		case err != nil:
		case part.Template != nil:
			if src, ok := s.take(part.Template); ok {
				b.WriteString(src)
				continue
			}
			part.Template.write(&b, "{{", "}}")
		case part.Arg != nil:
			part.Arg.write(&b, "{{{", "}}}")
		}
	}
	return b.String()
}

// write writes a transclusion between open and end. Parameters are written with their names, unless the name is the
// parameter's position. A value that contains an equals sign is also written with its name, because it must have had
// one in the source.
func (t *transclusion) write(b *strings.Builder, open, end string) {
	b.WriteString(open)
	b.WriteString(t.Target.WT)
	place := 1
	for i, p := range t.Params {
		b.WriteByte('|')
		if p.key == strconv.Itoa(place) {
			place++
			if strings.Contains(p.value, "=") && strings.IndexByte(open[2:], '{') < 0 {
				b.WriteString(p.key + "=")
			}
		} else {
			b.WriteString(p.key + "=")
			if strings.Contains(p.value, "(UTC)") { // a discussion starts on a new line
				b.WriteByte('\n')
			}
			if i == len(t.Params)-1 {
				end = trimmed(p.value) + end
			}
		}
		b.WriteString(p.value)
	}
	b.WriteString(end)
}

// trimmed returns the whitespace that Parsoid must have removed from the end of a template's last parameter, if the
// parameter has a name. It is a newline if the value may end in a SPARQL comment, which would otherwise include the
// template's closing braces, or a space if the value ends in a brace, to separate it from those braces.
func trimmed(value string) string {
	switch {
	case strings.Contains(value[strings.LastIndexByte(value, '\n')+1:], "#"), strings.Contains(value, "(UTC)"):
		return "\n"
	case strings.HasSuffix(value, "}"):
		return " "
	}
	return ""
}

// sources maps the templates in data-mw to their wikitext on the page. data-mw does not contain duplicate parameters or
// the spaces around names and values; both matter if stray pipes turned parts of a query into parameters.
type sources struct {
	byKey map[string][]string // in page order
}

func newSources(text string) *sources {
	s := &sources{byKey: map[string][]string{}}
	if text == "" {
		return s
	}
	doc := wikitext.Preprocess(text, wikitext.Options{})
	for i := range doc.Nodes {
		t := &doc.Nodes[i]
		if t.Kind != wikitext.Template {
			continue
		}
		var params ordered
		at, place := map[string]int{}, 0
		for _, a := range t.Args {
			m := member{value: a.Value.In(text)}
			if a.Named {
				m.key = strings.TrimSpace(wikitext.StripComments(a.Name.In(text)))
			} else {
				place++
				m.key = strconv.Itoa(place)
			}
			if k, again := at[m.key]; again {
				params[k] = m // as in MediaWiki, the last duplicate wins
				continue
			}
			at[m.key] = len(params)
			params = append(params, m)
		}
		key := templateKey(t.Name, params)
		s.byKey[key] = append(s.byKey[key], text[t.Start:t.End])
	}
	return s
}

func templateKey(name string, params ordered) string {
	var b strings.Builder
	b.WriteString(wikitext.CanonicalName(name))
	for _, p := range params {
		for _, s := range []string{p.key, p.value} { // Parsoid also removes newlines from names
			b.WriteByte(0)
			for f := range strings.FieldsSeq(wikitext.StripComments(s)) {
				b.WriteString(f)
			}
		}
	}
	return b.String()
}

// take returns the source of the next template in the wikitext that matches t.
func (s *sources) take(t *transclusion) (string, bool) {
	if len(s.byKey) == 0 {
		return "", false
	}
	key := templateKey(t.Target.WT, t.Params)
	list := s.byKey[key]
	if len(list) == 0 {
		return "", false
	}
	if len(list) > 1 {
		s.byKey[key] = list[1:]
	}
	return list[0], true
}

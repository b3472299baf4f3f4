package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Page is an entity's page as shown to the model, in SPINACH's format: a JSON object with keys such as "instance of
// (P31)". Each member is a string, a list of strings or, if any value has a qualifier, an object that maps each value
// to {"Qualifiers": [one object per statement]}. We add "rank": "preferred" or "deprecated" to a statement's object.
type Page struct {
	props []pageProp
}

type pageProp struct {
	id, key string // "P31", "instance of (P31)"
	values  []pageValue
	more    int  // number of omitted values
	total   bool // state the total number of values
}

type pageValue struct {
	text   string
	groups [][]pageQualifier // one per statement that has qualifiers or a rank
}

type pageQualifier struct {
	id, key string
	values  []string
}

// rankKey is the key of a statement's rank among its qualifiers.
const rankKey = "rank"

// maxPageValues is the maximum number of values read for one property. Further values are only counted.
const maxPageValues = 200

// NewPage builds an entity's page. Statements with the same value share an entry, as in SPINACH. If labels is
// true, labels were looked up, and entities without a label are marked.
func NewPage(e *kg.Entity, labels bool) Page {
	var p Page
	valueText := func(v kg.Value) string {
		s := Value(v)
		if id := rdf.EntityID(v.Term.Value); labels && id == s && v.Term.IsIRI() {
			s += noLabel
		}
		return s
	}
	for _, c := range e.Claims {
		prop := pageProp{id: c.Property.ID, key: labelledKey(c.Property)}
		at := map[string]int{}
		for _, s := range c.Statements {
			text := valueText(s.Value)
			i, ok := at[text]
			if !ok {
				if len(prop.values) == maxPageValues {
					prop.more++
					continue
				}
				i = len(prop.values)
				at[text] = i
				prop.values = append(prop.values, pageValue{text: text})
			}
			if g := statementGroup(s, valueText); len(g) > 0 {
				prop.values[i].groups = append(prop.values[i].groups, g)
			}
		}
		prop.more += max(c.Total-len(c.Statements), 0)
		if len(prop.values) > 0 {
			p.props = append(p.props, prop)
		}
	}
	return p
}

func labelledKey(p kg.PropertyRef) string {
	if p.Label == "" {
		return p.ID
	}
	return Fold(p.Label) + " (" + p.ID + ")"
}

func statementGroup(s kg.Statement, valueText func(kg.Value) string) []pageQualifier {
	var g []pageQualifier
	if s.Rank == kg.Preferred || s.Rank == kg.Deprecated {
		g = append(g, pageQualifier{key: rankKey, values: []string{string(s.Rank)}})
	}
	for _, q := range s.Qualifiers {
		pq := pageQualifier{id: q.Property.ID, key: labelledKey(q.Property)}
		for _, v := range q.Values {
			pq.values = append(pq.values, valueText(v))
		}
		if len(pq.values) > 0 {
			g = append(g, pq)
		}
	}
	return g
}

// object is a JSON object that preserves the order of its members.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := EncodeJSON(&b, m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := EncodeJSON(&b, m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// EncodeJSON appends v to b as JSON without HTML escapes, which would make < and & hard for the model to read.
func EncodeJSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // Encode's newline
	return nil
}

// JSON is like json.Marshal, but without HTML escapes.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	err := EncodeJSON(&b, v)
	return b.Bytes(), err
}

// Empty reports whether the page has no statements.
func (p Page) Empty() bool { return len(p.props) == 0 }

// String returns the page as JSON indented by two spaces.
func (p Page) String() string {
	var b, out bytes.Buffer
	if EncodeJSON(&b, p.tree()) != nil || json.Indent(&out, b.Bytes(), "", "  ") != nil {
		return "{}"
	}
	return out.String()
}

func (p Page) tree() object {
	o := object{}
	for _, prop := range p.props {
		o = append(o, member{prop.key, prop.tree()})
	}
	return o
}

func (p pageProp) tree() any {
	qualified := false
	for _, v := range p.values {
		qualified = qualified || len(v.groups) > 0
	}
	if !qualified {
		texts := make([]string, 0, len(p.values)+1)
		for _, v := range p.values {
			texts = append(texts, v.text)
		}
		if p.more > 0 {
			texts = append(texts, p.left())
		}
		if len(texts) == 1 {
			return texts[0]
		}
		return texts
	}
	o := object{}
	for _, v := range p.values {
		o = append(o, member{v.text, v.tree()})
	}
	if p.more > 0 {
		o = append(o, member{p.left(), object{}})
	}
	return o
}

// left returns text that states how many values are omitted.
func (p pageProp) left() string {
	if p.total {
		return say("values_of", map[string]int{"More": p.more, "Total": p.more + len(p.values)})
	}
	return say("values_left_out", p.more)
}

func (v pageValue) tree() object {
	if len(v.groups) == 0 {
		return object{}
	}
	groups := make([]object, len(v.groups))
	for i, g := range v.groups {
		for _, q := range g {
			var val any = q.values
			if len(q.values) == 1 {
				val = q.values[0]
			}
			groups[i] = append(groups[i], member{q.key, val})
		}
	}
	return object{{"Qualifiers", groups}}
}

// LeftOut returns the names of the properties in whole that are not in p.
func (p Page) LeftOut(whole Page) []string {
	have := map[string]bool{}
	for _, prop := range p.props {
		have[prop.id] = true
	}
	var out []string
	for _, prop := range whole.props {
		if !have[prop.id] {
			out = append(out, prop.key)
		}
	}
	return out
}

// Cut lists the properties in p that have fewer values than on the whole page, and the values that have fewer
// statements. It does not list omissions that the page already mentions.
func (p Page) Cut(whole Page) []string {
	at := map[string]pageProp{}
	for _, prop := range whole.props {
		at[prop.id] = prop
	}
	var out []string
	for _, prop := range p.props {
		full := at[prop.id]
		if shown, total := len(prop.values), len(full.values)+full.more; shown+prop.more < total {
			out = append(out, say("entry_values_shown", map[string]any{"Key": prop.key, "Shown": shown,
				"Total": total}))
		}
		groups := map[string]int{}
		for _, v := range full.values {
			groups[v.text] = len(v.groups)
		}
		for _, v := range prop.values {
			if shown, total := len(v.groups), groups[v.text]; shown > 0 && shown < total {
				out = append(out, say("entry_statements_shown", map[string]any{"Key": prop.key, "Shown": shown,
					"Total": total, "Value": v.text}))
			}
		}
	}
	return out
}

// words splits a text into lowercase words, for comparing labels with a question.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWordRune(r) })
}

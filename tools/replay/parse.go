package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func parseHits(text string) []kg.Hit {
	var out []kg.Hit
	for line := range strings.SplitSeq(text, "\n") {
		line, dtype, isProp := strings.Cut(line, "\tData Type: ")
		var id string
		at := -1
		for i := range line { // the first " (Q42)" in the line
			if strings.HasPrefix(line[i:], " (") {
				if end := strings.IndexByte(line[i:], ')'); end > 2 && rdf.ValidID(line[i+2:i+end]) {
					id, at = line[i+2:i+end], i
					break
				}
			}
		}
		if at < 0 {
			continue
		}
		h := kg.Hit{ID: id, Type: kg.Item, Label: line[:at], Description: strings.TrimPrefix(strings.TrimPrefix(line[at+
			len(id)+3:], ":"), " ")}
		if isProp {
			h.Type = kg.Property
			h.Datatype, _, _ = strings.Cut(dtype, " (")
		}
		out = append(out, h)
	}
	return out
}

func parseExamples(text string) (property string, out []kg.Example) {
	for line := range strings.SplitSeq(text, "\n") {
		left, value, ok := strings.Cut(line, " --> ")
		subject, prop, ok2 := strings.Cut(left, " -- ")
		if ok && ok2 {
			property = prop
			out = append(out, kg.Example{Subject: kg.PropertyRef{ID: subject}, Value: kg.Value{Term: rdf.String(value)}})
		}
	}
	return property, out
}

// parseEntity builds an entity from a recorded page, with every value as a string.
func parseEntity(id, text string) (*kg.Entity, error) {
	e := &kg.Entity{ID: id, Type: kg.Item}
	if text == "" {
		return e, nil
	}
	ms, err := orderedObject([]byte(text))
	if err != nil {
		return nil, kg.Errorf(kg.Down, "%v", err)
	}
	for _, m := range ms {
		p := kg.PropertyStatements{Property: splitKey(m.key)}
		raw := m.value
		var one string
		var list []json.RawMessage
		switch {
		case json.Unmarshal(raw, &one) == nil:
			p.Statements = append(p.Statements, textStatement(one))
		case json.Unmarshal(raw, &list) == nil:
			for _, x := range list {
				if json.Unmarshal(x, &one) == nil {
					p.Statements = append(p.Statements, textStatement(one))
				}
			}
		default:
			values, err := orderedObject(raw)
			if err != nil {
				return nil, kg.Errorf(kg.Down, "%v", err)
			}
			for _, v := range values {
				p.Statements = append(p.Statements, qualifiedStatements(v.key, v.value)...)
			}
		}
		e.Claims = append(e.Claims, p)
	}
	return e, nil
}

func textStatement(s string) kg.Statement { return kg.Statement{Value: kg.Value{Term: rdf.String(s)}} }

func qualifiedStatements(value string, raw json.RawMessage) []kg.Statement {
	var groups struct{ Qualifiers []json.RawMessage }
	if json.Unmarshal(raw, &groups) != nil || len(groups.Qualifiers) == 0 {
		return []kg.Statement{textStatement(value)}
	}
	var out []kg.Statement
	for _, g := range groups.Qualifiers {
		s := textStatement(value)
		ms, _ := orderedObject(g)
		for _, m := range ms {
			q := kg.Qualifier{Property: splitKey(m.key)}
			var one string
			var list []string
			if json.Unmarshal(m.value, &one) == nil {
				list = []string{one}
			} else {
				_ = json.Unmarshal(m.value, &list)
			}
			for _, v := range list {
				q.Values = append(q.Values, kg.Value{Term: rdf.String(v)})
			}
			s.Qualifiers = append(s.Qualifiers, q)
		}
		out = append(out, s)
	}
	return out
}

func splitKey(key string) kg.PropertyRef {
	if i := strings.LastIndex(key, " ("); i >= 0 {
		return kg.PropertyRef{ID: strings.TrimSuffix(key[i+2:], ")"), Label: key[:i]}
	}
	return kg.PropertyRef{ID: key}
}

// orderedObject parses a JSON object, preserving its order; the values are json.RawMessage.
func orderedObject(b []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("no JSON object")
	}
	var out []member
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, member{k.(string), v})
	}
	return out, nil
}

type member struct {
	key   string
	value json.RawMessage
}

// reshape changes a page's JSON to match the structure of our pages: single values are not wrapped in a list, values
// without qualifiers are, and empty objects are dropped. Anything that is not a page is returned unchanged.
func reshape(text string) string {
	ms, err := orderedObject([]byte(text))
	if err != nil {
		return text
	}
	var b strings.Builder
	for _, m := range ms {
		e, err := parseEntity("Q1", `{"x (P1)":`+string(m.value)+`}`)
		if err != nil {
			return text
		}
		for _, s := range e.Claims[0].Statements {
			fmt.Fprintf(&b, "%s: %s", m.key, s.Value.Term.Value)
			for _, q := range s.Qualifiers {
				fmt.Fprintf(&b, " | %s", q.Property)
				for _, v := range q.Values {
					fmt.Fprintf(&b, " = %s", v.Term.Value)
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

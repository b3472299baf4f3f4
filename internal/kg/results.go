package kg

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// binding is a cell in the SPARQL 1.1 Query Results JSON Format (W3C Recommendation, section 3.2.2).
type binding struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	Lang     string `json:"xml:lang,omitempty"`
	Datatype string `json:"datatype,omitempty"`
}

type jsonResult struct {
	Head struct {
		Vars []string `json:"vars,omitempty"`
	} `json:"head"`
	Results *struct {
		Bindings []map[string]binding `json:"bindings"`
	} `json:"results,omitempty"`
	Boolean *bool `json:"boolean,omitempty"`
	Meta    *struct {
		Total int64 `json:"result-size-total"`
	} `json:"meta,omitempty"` // QLever's
}

func toBinding(t rdf.Term) binding {
	switch t.Kind {
	case rdf.IRIKind:
		return binding{Type: "uri", Value: t.Value}
	case rdf.BlankKind:
		return binding{Type: "bnode", Value: t.Value}
	}
	return binding{Type: "literal", Value: t.Value, Lang: t.Lang, Datatype: t.Datatype}
}

func (b binding) term() rdf.Term {
	switch b.Type {
	case "uri":
		return rdf.IRI(b.Value)
	case "bnode":
		return rdf.Blank(b.Value)
	}
	if b.Lang != "" {
		return rdf.LangString(b.Value, b.Lang)
	}
	return rdf.Typed(b.Value, b.Datatype)
}

// MarshalJSON returns the table in the SPARQL 1.1 Query Results JSON Format. The output omits Elapsed, Bytes, Total and
// Source.
func (t Table) MarshalJSON() ([]byte, error) {
	var r jsonResult
	if t.Ask {
		r.Boolean = &t.Boolean
		return json.Marshal(r)
	}
	r.Head.Vars = t.Vars
	r.Results = &struct {
		Bindings []map[string]binding `json:"bindings"`
	}{Bindings: make([]map[string]binding, len(t.Rows))}
	for i := range t.Rows {
		r.Results.Bindings[i] = t.binding(i)
	}
	return json.Marshal(r)
}

// binding returns row i in the JSON format.
func (t *Table) binding(i int) map[string]binding {
	m := make(map[string]binding, len(t.Rows[i]))
	for j, c := range t.Rows[i] {
		if c.Bound() {
			m[t.Vars[j]] = toBinding(c)
		}
	}
	return m
}

// WriteJSON writes the same output as MarshalJSON, but row by row, so that there is no second copy of a large table in
// memory.
func (t *Table) WriteJSON(w io.Writer) error {
	head := Table{Vars: t.Vars, Ask: t.Ask, Boolean: t.Boolean}
	data, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if t.Ask {
		_, err = w.Write(data)
		return err
	}
	data = bytes.TrimSuffix(data, []byte("]}}"))
	for i := range t.Rows {
		if i > 0 {
			data = append(data, ',')
		}
		row, err := json.Marshal(t.binding(i))
		if err != nil {
			return err
		}
		if _, err := w.Write(append(data, row...)); err != nil {
			return err
		}
		data = data[:0]
	}
	_, err = w.Write(append(data, "]}}"...))
	return err
}

// UnmarshalJSON parses the SPARQL 1.1 Query Results JSON Format. It returns an error if the body contains neither a
// boolean nor bindings.
func (t *Table) UnmarshalJSON(data []byte) error {
	var r jsonResult
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	*t = Table{}
	if r.Boolean != nil {
		t.Ask, t.Boolean = true, *r.Boolean
		return nil
	}
	if r.Results == nil {
		return Errorf(QueryFailed, "the answer is neither rows nor a truth value")
	}
	if r.Meta != nil {
		t.Total = r.Meta.Total
	}
	t.Vars = r.Head.Vars
	t.Rows = make([][]rdf.Term, len(r.Results.Bindings))
	for i, b := range r.Results.Bindings {
		row := make([]rdf.Term, len(t.Vars))
		for j, v := range t.Vars {
			if c, ok := b[strings.TrimPrefix(v, "?")]; ok {
				row[j] = c.term()
			}
		}
		t.Rows[i] = row
	}
	return nil
}

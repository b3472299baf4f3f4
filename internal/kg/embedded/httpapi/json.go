package httpapi

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// jsonWriter writes the SPARQL 1.1 Query Results JSON Format.
type jsonWriter struct {
	resultWriter
	ask, any bool
	names    []string // column names as object keys
}

// Head writes the start of the document.
func (j *jsonWriter) Head(vars []string, ask bool) error {
	j.vars, j.ask = vars, ask
	if ask {
		j.put(`{"head":{},"boolean":`)
		return nil
	}
	j.put(`{"head":{"vars":[`)
	for i, v := range vars {
		if i > 0 {
			j.put(",")
		}
		at := len(j.line)
		j.line = appendJSON(j.line, v)
		j.names = append(j.names, string(j.line[at:]))
	}
	j.put(`]},"results":{"bindings":[`)
	return j.send()
}

// Row writes one solution.
func (j *jsonWriter) Row(row []rdf.Term) error {
	if j.any {
		j.put(",")
	}
	j.any = true
	j.put("\n{")
	first := true
	for i, t := range row {
		if !t.Bound() {
			continue
		}
		if !first {
			j.put(",")
		}
		first = false
		j.put(j.names[i])
		switch t.Kind {
		case rdf.IRIKind:
			j.put(`:{"type":"uri","value":`)
		case rdf.BlankKind:
			j.put(`:{"type":"bnode","value":`)
		default:
			j.put(`:{"type":"literal",`)
			if t.Lang != "" {
				j.put(`"xml:lang":`)
				j.line = appendJSON(j.line, t.Lang)
				j.put(",")
			} else if t.Datatype != "" {
				j.put(`"datatype":`)
				j.line = appendJSON(j.line, t.Datatype)
				j.put(",")
			}
			j.put(`"value":`)
		}
		j.put(`"`)
		if err := j.value(t.Value, appendJSONPart); err != nil {
			return err
		}
		j.put(`"}`)
	}
	j.put("}")
	return j.send()
}

// Boolean writes the result of an ASK query.
func (j *jsonWriter) Boolean(b bool) error {
	j.put(strconv.FormatBool(b))
	return nil
}

func (j *jsonWriter) end() error {
	if j.ask {
		j.put("}\n")
	} else {
		j.put("\n]}}\n")
	}
	return j.send()
}

// appendJSON appends s as a JSON string.
func appendJSON(b []byte, s string) []byte {
	if plainJSON(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, q...)
}

// plainJSON reports whether a string does not need escaping in JSON (RFC 8259, section 7).
func plainJSON(s string) bool {
	ascii := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < 0x20 || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.ValidString(s)
}

// appendJSONPart appends the part of a JSON string between the quotes.
func appendJSONPart(b []byte, s string) []byte {
	if plainJSON(s) {
		return append(b, s...)
	}
	at := len(b)
	b = appendJSON(b, s)
	copy(b[at:], b[at+1:len(b)-1])
	return b[:len(b)-2]
}

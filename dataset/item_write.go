package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteSPINACH writes the file that SPINACH's own evaluation reads: a JSON array of objects with id, title, url,
// question and sparql, in this order. It is pure ASCII, indented by four spaces, and has no newline at the end. Items
// with neither a title nor a URL have only the other three members, as in the third-party benchmarks that SPINACH
// ships. The format cannot store paraphrases, answers, or info.
func WriteSPINACH(w io.Writer, items []Item) error {
	type record struct {
		ID       json.RawMessage `json:"id"`
		Title    *string         `json:"title,omitempty"`
		URL      *string         `json:"url,omitempty"`
		Question string          `json:"question"`
		SPARQL   string          `json:"sparql"`
	}
	out := make([]record, len(items))
	for i := range items {
		it := &items[i]
		out[i] = record{ID: it.jsonID(), Question: it.Question, SPARQL: it.SPARQL}
		if it.Title != "" || it.URL != "" {
			out[i].Title, out[i].URL = &it.Title, &it.URL
		}
	}
	text, err := encode(out, "    ")
	if err != nil {
		return err
	}
	_, err = w.Write(ascii(text))
	return err
}

// ascii escapes non-ASCII characters in JSON text, as Python's json.dump does by default.
func ascii(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, u)
		}
	}
	return out
}

// WriteGRASP writes GRASP's benchmark format: one object per line with id, question, sparql, paraphrases and info.
// Title, URL, language, the number of responses and the gold result go into info. GRASP runs the queries as they are,
// so they should declare their prefixes.
func WriteGRASP(w io.Writer, items []Item) error {
	for i := range items {
		it := &items[i]
		record := struct {
			ID          json.RawMessage            `json:"id"`
			Question    string                     `json:"question"`
			SPARQL      string                     `json:"sparql"`
			Paraphrases []string                   `json:"paraphrases"`
			Info        map[string]json.RawMessage `json:"info"`
		}{it.jsonID(), it.Question, it.SPARQL, append([]string{}, it.Paraphrases...), map[string]json.RawMessage{}}
		for k, v := range it.Info {
			record.Info[k] = v
		}
		extra := map[string]any{}
		if it.Title != "" {
			extra["title"] = it.Title
		}
		if it.URL != "" {
			extra["url"] = it.URL
		}
		if it.Language != "" {
			extra["language"] = it.Language
		}
		if it.Responses != nil {
			extra["responses"] = *it.Responses
		}
		if it.Answers != nil {
			extra["answers"] = it.Answers
			if len(it.Head) > 0 {
				extra["vars"] = it.Head
			}
		}
		for k, v := range extra {
			text, err := encode(v, "")
			if err != nil {
				return fmt.Errorf("item %s: %s: %w", it.ID, k, err)
			}
			record.Info[k] = text
		}
		text, err := encode(record, "")
		if err != nil {
			return fmt.Errorf("item %s: %w", it.ID, err)
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// WriteQALD writes QALD's JSON format; name is the name of the data set. The language is English if an item does not
// specify one. answertype, aggregation, onlydbo and hybrid come from the item's info; a missing answertype is derived
// from the gold result.
func WriteQALD(w io.Writer, name string, items []Item) error {
	type question struct {
		ID          json.RawMessage   `json:"id"`
		AnswerType  json.RawMessage   `json:"answertype,omitempty"`
		Aggregation json.RawMessage   `json:"aggregation,omitempty"`
		OnlyDBO     json.RawMessage   `json:"onlydbo,omitempty"`
		Hybrid      json.RawMessage   `json:"hybrid,omitempty"`
		Question    []qaldString      `json:"question"`
		Query       map[string]string `json:"query"`
		Answers     []any             `json:"answers"`
	}
	out := struct {
		Dataset   map[string]string `json:"dataset"`
		Questions []question        `json:"questions"`
	}{map[string]string{"id": name}, []question{}}
	for i := range items {
		it := &items[i]
		q := question{ID: it.jsonID(), Query: map[string]string{"sparql": it.SPARQL}, Answers: []any{},
			AnswerType: it.Info["answertype"], Aggregation: it.Info["aggregation"], OnlyDBO: it.Info["onlydbo"],
			Hybrid: it.Info["hybrid"]}
		language := it.Language
		if language == "" {
			language = "en"
		}
		q.Question = append(q.Question, qaldString{language, it.Question, it.Info["keywords"]})
		for _, p := range it.Paraphrases {
			q.Question = append(q.Question, qaldString{Language: language, String: p})
		}
		if t, ok := it.Info[translations]; ok {
			var others []qaldString
			if err := json.Unmarshal(t, &others); err != nil {
				return fmt.Errorf("item %s: the translations are not a list of wordings: %w", it.ID, err)
			}
			q.Question = append(q.Question, others...)
		}
		if b, ok := it.Boolean(); ok {
			q.Answers = append(q.Answers, map[string]any{"head": map[string]any{}, "boolean": b})
		} else if rows, ok := it.Bindings(); ok {
			q.Answers = append(q.Answers, map[string]any{"head": map[string]any{"vars": it.Columns(rows)},
				"results": map[string]any{"bindings": it.Answers}})
		}
		if kind := it.answerType(); q.AnswerType == nil && kind != "" {
			q.AnswerType = json.RawMessage(`"` + kind + `"`)
		}
		out.Questions = append(out.Questions, q)
	}
	text, err := encode(out, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// answerType returns QALD's name for the kind of the gold result, according to the first bound value, or "" if there is
// none.
func (it *Item) answerType() string {
	if _, ok := it.Boolean(); ok {
		return "boolean"
	}
	rows, _ := it.Bindings()
	for _, r := range rows {
		for _, c := range it.Columns(rows) {
			b, ok := r[c]
			_, kind, _ := strings.Cut(b.Datatype, "#")
			switch {
			case !ok:
				continue
			case b.Type == "uri":
				return "resource"
			case kind == "date", kind == "dateTime", kind == "gYear", kind == "gYearMonth":
				return "date"
			case kind == "integer", kind == "decimal", kind == "double", kind == "float", kind == "int", kind == "long",
				kind == "nonNegativeInteger":
				return "number"
			}
			return "string"
		}
	}
	return ""
}

// jsonID returns the ID as it appeared in the file.
func (it *Item) jsonID() json.RawMessage {
	if it.NumericID && json.Valid([]byte(it.ID)) {
		return json.RawMessage(it.ID)
	}
	text, err := encode(it.ID, "")
	if err != nil {
		return json.RawMessage(`""`) // a string can always be encoded as JSON
	}
	return text
}

// encode writes JSON as in the benchmarks, without escaping <, > and &.
func encode(v any, indent string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

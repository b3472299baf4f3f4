package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

type qaldString struct {
	Language string          `json:"language"`
	String   string          `json:"string"`
	Keywords json.RawMessage `json:"keywords,omitempty"`
}

// translations is the key of [Item.Info] under which QALD's wordings in other languages are kept unchanged.
const translations = "translations"

// qaldItem reads an element of QALD's "questions".
func qaldItem(raw map[string]json.RawMessage) (it Item, err error) {
	f := &fields{raw: raw}
	f.id(&it)
	if err := f.wordings(&it); err != nil {
		return it, err
	}
	if v, ok := f.take("query"); ok && f.err == nil {
		var q struct{ SPARQL string }
		if json.Unmarshal(v, &q) != nil {
			f.err = fmt.Errorf(`"query" is not an object with sparql but %.40s`, v)
		}
		it.SPARQL = q.SPARQL
	}
	var answers []json.RawMessage
	if fitting(f, "answers", &answers); len(answers) > 0 {
		inner := &fields{raw: map[string]json.RawMessage{"answers": answers[0]}}
		inner.result(&it, "answers")
	}
	if len(raw) > 0 {
		it.Info = raw
	}
	return it, f.err
}

// wordings reads the question in all its languages.
func (f *fields) wordings(it *Item) error {
	v, ok := f.take("question")
	if !ok {
		return errors.New(`it has no "question"`)
	}
	var all []qaldString
	if json.Unmarshal(v, &all) != nil {
		return fmt.Errorf(`"question" is not a list of {"language","string"} but %.40s`, v)
	}
	for _, want := range []func(qaldString) bool{func(q qaldString) bool { return q.Language == "en" },
		func(qaldString) bool { return true }} {
		for _, q := range all {
			if it.Question == "" && strings.TrimSpace(q.String) != "" && want(q) {
				it.Question, it.Language = q.String, q.Language
			}
		}
	}
	if it.Question == "" {
		return errors.New(`its "question" has no text in any language`)
	}
	var others []qaldString
	for first, i := true, 0; i < len(all); i++ {
		switch q := all[i]; {
		case q.Language != it.Language:
			others = append(others, q)
		case strings.TrimSpace(q.String) == "":
		case first:
			first = false
			if len(q.Keywords) > 0 {
				f.raw["keywords"] = q.Keywords
			}
		default:
			it.Paraphrases = append(it.Paraphrases, q.String)
		}
	}
	if len(others) > 0 {
		text, err := json.Marshal(others)
		if err != nil {
			return err
		}
		f.raw[translations] = text
	}
	return nil
}

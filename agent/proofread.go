package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// wording is what the model wrote for a reply.
type wording struct {
	Answer, Assumed, Open string
	Headers               []header // of the columns that the reply's table may show; nil without a result
}

// header is a column of a result with its table header, or "" if the model has not named the column.
type header struct{ Column, Header string }

// proofread has the model read the reply once more, as an editor would before posting it. The model sees the question,
// the steps, the result and the faults that were found in the reply, and may change what it wrote: the outcome's short
// answer, and the assumptions, open points and headers of the answer a, which is nil if there is none. If the options
// do not ask for this, or if the model fails or its response cannot be read, nothing changes. told reports whether the
// model has read the faults.
func (r *run) proofread(ctx context.Context, b *event.Branch, out *Outcome, a *Answer, faults []faithful.Fault) (
	told bool, err error) {
	if !r.proofs || out.Short == "" || out.Asks != "" {
		return false, nil
	}
	w := wordingOf(out.Short, a)
	data := map[string]any{"Reply": w, "Faults": faults, "Steps": r.state.Steps(), "SPARQL": "", "Shows": "",
		"Address": address[r.Language.Code]}
	if out.Attempt != nil {
		data["Shows"] = out.Attempt.SPARQL
	}
	if a != nil {
		names, rows := a.Names(), r.Preset.Show.Rows
		data["SPARQL"], data["Result"] = a.SPARQL, rows.Table(a.Table, names)
		data["Named"] = rows.Named(a.Table, names, w.Answer+"\n"+w.Assumed+"\n"+w.Open)
	}
	text, ok, err := r.Help(ctx, b, tool.Task{Purpose: "proofread", MaxTokens: 3000, JSON: true, Data: data})
	var h *event.Halt
	if errors.As(err, &h) {
		return false, nil // the reply can be posted as it is
	}
	if err != nil || !ok {
		return false, err
	}
	if w, ok = w.read(text); !ok {
		return false, nil
	}
	out.Short = w.Answer
	if a != nil {
		a.Assumed, a.Open, a.Headers = w.Assumed, w.Open, map[string]string{}
		for _, h := range w.Headers {
			a.Headers[h.Column] = h.Header
		}
	}
	return true, nil
}

// address contains the word that a reply's fixed sentences use to address the asker, by language. In other languages,
// these sentences avoid such a word.
var address = map[string]string{"de": "du", "es": "tú", "fr": "vous", "nl": "je", "pl": "ty", "ru": "вы", "zh": "您"}

// wordingOf returns what the model wrote about an answer, which may be nil.
func wordingOf(text string, a *Answer) wording {
	w := wording{Answer: text}
	if a == nil {
		return w
	}
	w.Assumed, w.Open = a.Assumed, a.Open
	for _, v := range a.Table.Vars {
		if of, label := strings.CutSuffix(v, "Label"); !label || !slices.Contains(a.Table.Vars, of) {
			w.Headers = append(w.Headers, header{v, a.Headers[v]})
		}
	}
	return w
}

// read applies the changes in the model's JSON object. Anything missing from the object is left unchanged. ok is false
// if there is no such object, or if its answer is empty.
func (w wording) read(text string) (changed wording, ok bool) {
	m, ok := render.JSONObject(text)
	if !ok {
		return w, false
	}
	for key, to := range map[string]*string{"answer": &w.Answer, "assumed": &w.Assumed, "open": &w.Open} {
		if s, given := m[key].(string); given && (strings.TrimSpace(s) == "" || !placeholder(s)) {
			*to = said(s)
		}
	}
	named, _ := m["headers"].(map[string]any)
	for i, h := range w.Headers {
		if s, _ := named[h.Column].(string); !placeholder(s) && utf8.RuneCountInString(said(s)) <= maxHeader {
			w.Headers[i].Header = said(s)
		}
	}
	return w, w.Answer != ""
}

// placeholder reports whether, instead of a text, the model wrote nothing, a word that means nothing ("none"), the
// prompt's "…" or "header", or that nothing changes.
func placeholder(s string) bool {
	s = strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
	return s == "" || slices.Contains([]string{"unchanged", "none", "null", "no change", "no changes", "same", "n/a", "header", "empty"}, s)
}

package agent

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/llm"
)

//go:embed asked.tmpl
var askedFile embed.FS

var askedTexts = sync.OnceValue(func() *render.Texts {
	t, err := preset.Texts(askedFile, "asked.tmpl")
	if err != nil {
		panic(err) // the file is embedded in the program
	}
	return t
})

// maxAsked is the maximum number of characters in a request or query that [Engine.Asked] shows to the model.
const maxAsked = 4000

// Asked is a new request and an earlier request, each with its query.
type Asked struct {
	Question, Query string // the new request and the query that was found for it
	Earlier, Theirs string // the earlier request as posted, and its query
}

// Same is the model's verdict on whether the two requests in an [Asked] are the same.
type Same struct {
	Same bool
	Why  string // one line
}

// Asked asks the model whether an earlier request was the same as the new one. If it was, the earlier query answers
// both. If there is any doubt, the requests are treated as different. Errors and the events written to rec are as for
// [Engine.Triage], except that the preset is "asked". If a request or query is empty or too long to be shown in full,
// Asked does not ask the model and treats the requests as different.
func (e *Engine) Asked(ctx context.Context, a Asked, rec Recorder) (*Same, error) {
	for _, s := range []string{a.Question, a.Query, a.Earlier, a.Theirs} {
		if len([]rune(s)) > maxAsked || strings.TrimSpace(s) == "" {
			return &Same{Why: "too long to compare, or empty"}, nil
		}
	}
	b := event.NewLog(rec, e.now, 0).Branch(0)
	if err := b.Record(ctx, Event{Event: "start", Format: event.Format, Preset: "asked",
		Detail: render.Clip(render.Fold(a.Question), 200)}); err != nil {
		return nil, err
	}
	s, err := readable(ctx, e, b, func(again string) llm.Request {
		user := askedTexts().Say("asked_user", map[string]any{"New": a.Question, "Query": a.Query, "Earlier": a.Earlier,
			"Theirs": a.Theirs, "Again": again})
		return llm.Request{Purpose: "asked", Subject: a.Question, MaxTokens: 1000,
			Messages: []llm.Message{{Role: llm.System, Content: askedTexts().Say("asked.tmpl", nil)},
				{Role: llm.User, Content: user}}}
	}, parseSame)
	if err != nil {
		return nil, failed(ctx, b, fmt.Errorf("agent: judging whether a request was made before: %w", err))
	}
	detail := "another request"
	if s.Same {
		detail = "the same request"
	}
	return s, b.Record(ctx, Event{Event: "end", Detail: detail + ": " + s.Why})
}

// parseSame parses the model's JSON object; why describes what is wrong with it, if anything.
func parseSame(text string) (s *Same, why string) {
	m, ok := render.JSONObject(text)
	if !ok {
		return nil, "it held no JSON object"
	}
	same, ok := asBool(m["same"])
	if !ok {
		return nil, `"same" was neither true nor false`
	}
	said, _ := m["why"].(string)
	return &Same{same, render.Clip(render.Fold(render.Clean(said)), 300)}, ""
}

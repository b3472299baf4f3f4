package agent

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

//go:embed triage.tmpl
var triageFile embed.FS

var triageTexts = sync.OnceValue(func() *render.Texts {
	t, err := preset.Texts(triageFile, "triage.tmpl")
	if err != nil {
		panic(err) // the file is embedded
	}
	return t
})

const (
	triagePosts  = 20   // number of most recent posts in a thread to show
	triageLength = 6000 // maximum number of characters shown per post
)

// Triage asks the model to judge the last post in posts: whether it is a request for the bot, what it asks, and in
// which language. heading is the thread's heading. If the model's answer cannot be parsed, the model is asked a second
// time. An error comes from the model (llm.ErrNoModel, *llm.BudgetError, *llm.Error; see [EndingOf]) or from ctx, or
// means that no answer could be parsed. It says nothing about the post. Posts are untrusted; whatever they contain,
// they affect only the returned [Triage]. The calls are written to rec, which may be nil, as a separate trajectory
// whose last event contains the judgment in Detail.
//
// If the preset enables rules.triage and the model's server supports tool calls, the call to the model is also the
// first turn of the question's run, which later continues from there; see [Triage].Opening. limits are the limits for
// that run.
func (e *Engine) Triage(ctx context.Context, heading string, posts []Post, rec Recorder,
	limits Limits) (*Triage, error) {
	if len(posts) == 0 {
		return nil, fmt.Errorf("agent: triaging thread %q: it has no posts", render.Clip(heading, 80))
	}
	shown := slices.Clone(posts[max(0, len(posts)-triagePosts):])
	for i := range shown {
		shown[i].Text = render.Clip(shown[i].Text, triageLength)
	}
	events := event.NewLog(rec, e.now, 0)
	b := events.Branch(0)
	t, err := e.triage(ctx, events, b, &Opening{Heading: heading, Posts: shown}, e.limits(limits))
	if err != nil {
		return nil, failed(ctx, b, fmt.Errorf("agent: triaging thread %q: %w", render.Clip(heading, 80), err))
	}
	detail := "no request"
	if t.Request {
		detail = "a request"
	}
	return t, b.Record(ctx, Event{Event: "end", Detail: detail + ": " + t.Why, Language: t.Language})
}

// triage asks for the judgment in the same call as the first turn if possible, and separately otherwise.
func (e *Engine) triage(ctx context.Context, events *event.Log, b *event.Branch, o *Opening,
	limits Limits) (*Triage, error) {
	if err := b.Record(ctx, Event{Event: "start", Format: event.Format, Preset: "triage", Graphs: e.sources.Log(),
		Detail: render.Clip(render.Fold(o.Heading), 200)}); err != nil {
		return nil, err
	}
	if e.opens(o) {
		if t, err := e.open(ctx, events, b, o, limits); t != nil || err != nil {
			return t, err
		}
	}
	t, err := e.judge(ctx, b, o.Heading, o.Posts)
	if err == nil && t.Request && o.Turn != nil {
		t.Opening = o
	}
	return t, err
}

// judge asks only for the judgment, and asks a second time if it cannot be parsed.
func (e *Engine) judge(ctx context.Context, b *event.Branch, heading string, posts []Post) (*Triage, error) {
	return readable(ctx, e, b, func(again string) llm.Request {
		user := triageTexts().Say("triage_user", map[string]any{"Heading": render.Fold(heading), "Posts": posts,
			"Again": again})
		return llm.Request{Purpose: "triage", Subject: posts[len(posts)-1].Whole(), MaxTokens: 2000,
			Messages: []llm.Message{{Role: llm.System, Content: triageTexts().Say("triage.tmpl", nil)}, {Role: llm.User,
				Content: user}}}
	}, func(text string) (*Triage, string) {
		t, why := parseTriage(text)
		if why == "" && t.Request && t.Question == "" {
			why = `"question" was empty although "request" was true`
		}
		return t, why
	})
}

// parseTriage parses the model's JSON object; why describes what is wrong with it, if anything.
func parseTriage(text string) (t *Triage, why string) {
	m, ok := render.JSONObject(text)
	if !ok {
		return nil, "it contained no JSON object"
	}
	request, ok := asBool(m["request"])
	if !ok {
		return nil, `"request" was neither true nor false`
	}
	str := func(k string) string { s, _ := m[k].(string); return strings.TrimSpace(render.Clean(s)) }
	t = &Triage{Request: request, Question: str("question"), Why: render.Clip(render.Fold(str("why")), 300)}
	if l, known := tool.LanguageOf(str("language")); known {
		t.Language = l.Code
	}
	return t, ""
}

func asBool(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "yes":
			return true, true
		case "false", "no":
			return false, true
		}
	}
	return false, false
}

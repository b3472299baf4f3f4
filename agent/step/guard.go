package step

import (
	"context"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// guarded runs a call under the preset's grounding guard, which checks a query for IDs that the model has not seen. If
// held is true, the query was not run because of such IDs.
func (r *Runner) guarded(ctx context.Context, env *tool.Env, s State, call protocol.Call) (res tool.Result, unseen,
	held bool, err error) {
	query, name, ok := call.Tool.Asked(call.Args)
	source, serr := env.Sources.Named(name)
	if !ok || serr != nil { // the tool itself reports the error, or does not know before it runs what it will query
		if res, err = call.Tool.Run(ctx, env, call.Args); err != nil || res.Query == "" {
			return res, false, false, err
		}
		if source, serr = env.Sources.Named(res.KG); serr != nil {
			return res, false, false, nil
		}
		at := env.On(source)
		ids := at.Unseen(res.Query)
		return r.warned(ctx, at, res, ids), len(ids) > 0, false, nil
	}
	at := env.On(source)
	ids := at.Unseen(query)
	switch guard := r.Preset.Rules.Guard; {
	case guard == preset.GuardKnown:
		if names := at.Unknown(query, s.shown.has); len(names) > 0 {
			return tool.Result{Text: tool.NotKnown(names), Failure: tool.NotShown}, true, true, nil
		}
	case guard == preset.GuardRefuse && len(ids) > 0 && at.Dialect.Check(query) == nil:
		return tool.Result{Text: at.LookUp(ctx, ids, true), Failure: tool.NotShown}, true, true, nil
	}
	if res, err = call.Tool.Run(ctx, env, call.Args); err != nil {
		return res, false, false, err
	}
	return r.warned(ctx, at, res, ids), len(ids) > 0, false, nil
}

// warned appends a message about IDs that the model has not seen to a result, as the preset's guard requires.
func (r *Runner) warned(ctx context.Context, env *tool.Env, res tool.Result, ids []string) tool.Result {
	more := ""
	switch r.Preset.Rules.Guard {
	case preset.GuardName:
		more = env.Warn(ctx, ids)
	case preset.GuardLookUp:
		more = env.LookUp(ctx, ids, false)
	}
	if more != "" {
		res.Text += "\n" + more
	}
	return res
}

// seeing returns the state after the model has been shown text. iris are IRIs that the text names in other forms.
func (r *Runner) seeing(s State, text string, iris []string) State {
	for i := range r.Sources {
		s.known = s.known.with(r.dialect(i).Names(text))
	}
	keys := make([]string, 0, len(iris))
	for _, iri := range iris {
		keys = append(keys, r.keyOf(iri))
	}
	s.known, s.shown = s.known.with(keys), s.shown.with(iris)
	return s
}

// dialect returns the dialect of a source.
func (r *Runner) dialect(i int) tool.Dialect {
	d := r.Dialect
	d.Graph = &r.Sources[i].Explain
	return d
}

// keyOf returns a key for comparing IRIs. The key is the Wikibase ID if the source is a Wikibase and the IRI has an ID.
func (r *Runner) keyOf(iri string) string {
	for i := range r.Sources {
		if id := r.dialect(i).IDOf(iri); id != "" {
			return id
		}
	}
	return iri
}

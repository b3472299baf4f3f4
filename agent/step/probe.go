package step

import (
	"context"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/probe"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Probed is the outcome of probing an answer: the number of variants of its query that were run, and the variants that
// change the result. Open contains the variants whose change the model was shown but did not adopt.
type Probed struct {
	Run   int
	Moved []event.Probe
	Open  []event.Probe
}

// probed contains the answer that was probed in a state, and its probes.
type probed struct {
	answer *Answer // nil if no answer was probed
	all    []event.Probe
}

// probed runs variants of an answer's query if the preset requests it, once per exploration. It returns what to tell
// the model about variants that change the result, or "". If the graph fails, the answer is left unchanged. An error
// ends the run.
func (r *Runner) probed(ctx context.Context, b *event.Branch, s State, a *Answer) (State, string, error) {
	if s.probes.answer != nil || !r.Preset.Probe.On() {
		return s, "", nil
	}
	source, err := r.env(b, s).Sources.Named(a.KG)
	if err != nil {
		return s, "", nil
	}
	env := r.env(b, s).On(source)
	all, err := probe.Run(ctx, probe.Task{Settings: r.Preset.Probe, Query: a.Ran, Table: a.Table, Columns: a.Columns,
		Options: env.Dialect.Variants(), Time: r.Meter.spare(), Now: r.Now, Run: env.Graph.Query})
	s.at = b.At()
	if err != nil {
		return s, "", err
	}
	all = named(all, env.LabelsOf(ctx, probe.IDs(probe.Moved(all), env.Dialect.ID)))
	s.probes = probed{answer: a, all: all}
	text := ""
	if len(probe.Moved(all)) > 0 && r.Check(s) == nil && ctx.Err() == nil {
		text = r.say("probes_shown", r.decision(r.shownProbes(ctx, env, probe.Moved(all))))
	}
	err = b.Record(ctx, event.Event{Event: "probe", Probes: all, Detail: text})
	s.at = b.At()
	return s, text, err
}

// named adds, to each probe that changes the result, the labels of the entities that it is about. A probe may name a
// class that is neither in the answer's query nor in its rows.
func named(all []event.Probe, labels map[string]string) []event.Probe {
	out := slices.Clone(all)
	for i := range out {
		if !out[i].Moved {
			continue
		}
		for _, id := range append(render.IDs(out[i].What), rdf.EntityID(out[i].About)) {
			if labels[id] == "" {
				continue
			}
			if out[i].Names == nil {
				out[i].Names = map[string]string{}
			}
			out[i].Names[id] = labels[id]
		}
	}
	return out
}

// decision returns the data for the text that tells the model about variants. If the run can be ended with a query that
// was not run, the text says so, which saves a turn.
func (r *Runner) decision(probes any) map[string]any {
	data := map[string]any{"Probes": probes, "Stop": "", "Query": ""}
	if t := r.Preset.Toolset().Find(tool.FinishName); t != nil {
		data["Stop"], data["Query"] = t.Name, "sparql"
	}
	return data
}

// shownProbes returns the probes in the form shown to the model.
func (r *Runner) shownProbes(ctx context.Context, env *tool.Env, moved []event.Probe) []probe.Shown {
	id := env.Dialect.ID
	return probe.Show(moved, id, render.Names{Graph: env.Dialect.Graph, Labels: env.LabelsOf(ctx, probe.IDs(moved, id))})
}

// told returns the child for a stop whose answer is not accepted yet, because the model is told something about it
// first.
func (r *Runner) told(s State, text string) Child {
	s, last := s.changed(len(s.steps) - 1)
	last.notes = append(slices.Clip(last.notes), text)
	s.reply, s.warned = "", false // the model may now insist by repeating the same turn
	return Child{State: r.seeing(s, text, nil)}
}

// Probed returns the outcome of probing the answer that the state ended with, or nil if no probes were run.
func (s State) Probed(a *Answer) *Probed {
	if s.probes.answer == nil || a == nil || len(s.probes.all) == 0 {
		return nil
	}
	same := a.SPARQL == s.probes.answer.SPARQL
	return &Probed{Run: len(s.probes.all), Moved: probe.Moved(s.probes.all),
		Open: probe.Open(s.probes.all, same, func(vars []string, row []rdf.Term) bool { return hasRow(a.Table, vars, row) })}
}

// hasRow reports whether a result has a row with the same cells in columns with the same names. If the result has none
// of these columns, hasRow reports whether it contains the first cell of row in any column.
func hasRow(t *kg.Table, vars []string, row []rdf.Term) bool {
	shared := false
	for _, v := range vars {
		shared = shared || slices.Contains(t.Vars, v)
	}
	return slices.ContainsFunc(t.Rows, func(r []rdf.Term) bool {
		if !shared {
			return len(row) > 0 && slices.Contains(r, row[0])
		}
		for i, v := range vars {
			if j := slices.Index(t.Vars, v); j >= 0 && j < len(r) && r[j] != row[i] {
				return false
			}
		}
		return true
	})
}

package preset

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent/tool"
)

// Fact is one line in a preset's description, for display.
type Fact struct{ Name, Text string }

// ruleTexts are the descriptions of the rules, for display. Every rule value has a description.
var ruleTexts = map[string]map[string]string{
	"repeat": {
		RepeatRestore: "a repeated action is refused; the second time, the state before it is restored",
		RepeatRefuse:  "a repeated call is refused",
		RepeatNone:    "an action may be repeated",
		RepeatLoop:    "a reply that repeats the last one is not carried out; the next one ends the run",
		RepeatEnd:     "a reply that repeats the last one ends the run",
	},
	"stop": {
		StopRestore: "a stop without a result is refused; the second time, the state before the query is restored",
		StopRefuse:  "a stop without a result is refused",
		StopAccept:  "a stop without a result ends the run without an answer",
	},
	"no_action": {"nudge": "", "end": "a turn without an action ends the run"},
	"guard": {
		GuardOff:    "",
		GuardName:   "the model is told the labels of IDs that have not been shown",
		GuardLookUp: "IDs that have not been shown are looked up, and explained after the query was run",
		GuardRefuse: "a query with IDs that have not been shown is not run until they have been looked up",
		GuardKnown:  "a query with IRIs that no result has shown is not run",
	},
}

// Explain describes what the preset does, based on its data.
func (p *Preset) Explain() []Fact {
	var facts []Fact
	add := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			facts = append(facts, Fact{name, text})
		}
	}
	protocol := p.Protocol
	if p.Parallel {
		protocol += ", several calls per turn"
	}
	if p.Strict {
		protocol += ", strict schemas"
	}
	add("protocol", "%s", protocol)
	add("policies", "%s", strings.Join(p.Policies, ", "))
	add("tools", "%s", strings.Join(p.Tools, ", "))
	limits := fmt.Sprintf("%d counted actions, %d in total", p.Limits.Counted, p.Limits.Total)
	if n := p.Rules.Messages; n > 0 {
		limits += fmt.Sprintf(", %d messages", n)
	}
	add("limits", "%s", limits)
	add("rules", "%s", strings.Join(p.rules(), "; "))
	add("sampling", "%s", p.Sampling.String())
	add("shown", "%s", shown(p.Show))
	if n := p.Feedback.Rounds; n > 0 {
		add("feedback", "a judge examines each answer and may send it back, at most %d times", n)
	}
	if p.Probe.On() {
		add("probe", "at most %d variants of the final query are run, within %d s", p.Probe.Queries, p.Probe.Seconds)
	}
	if x := p.Examples; x.N > 0 && x.Force != "" {
		add("examples", "%d solved questions before the first turn", x.N)
	} else if x.N > 0 {
		add("examples", "%d solved questions on request", x.N)
	}
	if n := p.Notes.N; n > 0 {
		add("notes", "up to %d approved lessons about a graph", n)
	}
	var extras []string
	for _, e := range []struct {
		on   bool
		text string
	}{{p.Diagnose, "tells the model which condition of an empty query loses the rows"},
		{p.Extract, "asks the model for a query when the actions are used up"},
		{p.Report, "writes a report"}} {
		if e.on {
			extras = append(extras, e.text)
		}
	}
	add("also", "%s", strings.Join(extras, "; "))
	return facts
}

// rules returns the descriptions of the preset's rules.
func (p *Preset) rules() []string {
	r := p.Rules
	var out []string
	for _, text := range []string{ruleTexts["repeat"][r.Repeat], ruleTexts["stop"][r.Stop],
		ruleTexts["no_action"][r.NoAction], ruleTexts["guard"][r.Guard]} {
		if text != "" {
			out = append(out, text)
		}
	}
	if r.Salvage {
		out = append(out, "an answer is taken from a turn without an action, or from the last query at a limit")
	}
	if r.TrimLimit {
		out = append(out, "LIMIT 10 is removed from the final query")
	}
	return out
}

// String returns a readable description of the sampling parameters.
func (s Sampling) String() string {
	out := fmt.Sprintf("temperature %g, top_p %g, up to %d tokens per action", s.Temperature, s.TopP, s.MaxTokens)
	if s.N > 1 {
		out += fmt.Sprintf(", %d samples", s.N)
	}
	if len(s.Stop) > 0 {
		out += fmt.Sprintf(", ending at %q", s.Stop)
	}
	if s.Seed != nil {
		out += fmt.Sprintf(", seed %d", *s.Seed)
	}
	return out
}

// shown describes how much output the tools show.
func shown(s tool.Show) string {
	var out []string
	if s.Items+s.Properties > 0 {
		out = append(out, fmt.Sprintf("%d items and %d properties per search", s.Items, s.Properties))
	}
	if s.Hits > 0 {
		out = append(out, fmt.Sprintf("%d hits per search or list", s.Hits))
	}
	out = append(out, fmt.Sprintf("up to %d rows of a result, or else the first %d and the last %d", s.Rows.Whole,
		s.Rows.Head, s.Rows.Tail))
	if s.Columns > 0 {
		out = append(out, fmt.Sprintf("%d columns", s.Columns))
	}
	if s.Chars > 0 {
		out = append(out, fmt.Sprintf("up to %d characters per observation", s.Chars))
	}
	return strings.Join(out, ", ")
}

package step

import (
	"github.com/spinachbot/spinachbot/agent/probe"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Facts returns, in structured form, what a request in state s is about: the tools that may be called, what was done
// and, if an answer was probed, the variants that change its result.
func (r *Runner) Facts(s State) *llm.Facts {
	f := &llm.Facts{Tools: r.Preset.Toolset().Names(), SentBack: s.feedbacks}
	for _, k := range s.steps {
		f.Done = append(f.Done, llm.Done{Tool: k.call.Tool.Name, Arguments: string(k.call.Args), Query: k.query,
			Rows: k.result})
	}
	for _, p := range probe.Moved(s.probes.all) {
		f.Queries = append(f.Queries, p.SPARQL)
	}
	return f
}

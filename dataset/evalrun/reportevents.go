package evalrun

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

func eventsForPage(events []agent.Event) (out []pageEvent) {
	var turns event.Turns
	for _, e := range events {
		if said, why, bad := turns.Unreadable(e); bad {
			call := said.Content
			for _, c := range said.ToolCalls {
				call += "\n" + c.Name + "(" + c.Arguments + ")"
			}
			out = append(out, pageEvent{Refused: "could not be read", Call: shown(call, pageArgument),
				Observation: shown(why, pageArgument)})
		}
		if e.Event == "feedback" {
			out = append(out, pageEvent{Refused: "feedback: " + shown(e.Reason, 20),
				Thought: shown(e.Detail, pageObservation)})
		}
		for _, x := range e.Call.Examples() {
			out = append(out, pageEvent{Thought: "Shown to it: the solved question " + shown(x.ID, 80), Call: shown(x.Question,
				pageArgument),
				Observation: shown(x.SPARQL, pageArgument)})
		}
		s := e.Step
		if s == nil {
			continue
		}
		p := pageEvent{N: s.N, Thought: shown(s.Thought, pageObservation),
			Call:        shown(s.Action, 40) + "(" + shown(s.Argument, pageArgument) + ")",
			Observation: shown(s.Observation, pageObservation), Failure: string(s.Failure)}
		if e.Event == "rollback" {
			p.Refused = map[string]string{"repeat": "refused: a repetition",
				"stop": "refused: a stop without a result"}[e.Reason]
			if p.Refused == "" {
				p.Refused = "refused"
			}
		}
		out = append(out, p)
	}
	return out
}

// rowsForPage shows the first rows of a result.
func rowsForPage(raw json.RawMessage) pageRows {
	var rows []map[string]struct{ Value string }
	if !isTable(raw) || json.Unmarshal(raw, &rows) != nil {
		if len(raw) == 0 || string(raw) == "null" {
			return pageRows{Note: "no result"}
		}
		return pageRows{Note: string(raw)}
	}
	out := pageRows{Note: text.Count(len(rows), "row")}
	names := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			names[name] = true
		}
	}
	out.Head = sortedKeys(names)
	for _, row := range rows[:min(len(rows), pageResultRows)] {
		var line []string
		for _, name := range out.Head {
			line = append(line, text.Clip(plain(strings.TrimPrefix(row[name].Value, "http://www.wikidata.org/entity/")),
				120))
		}
		out.Rows = append(out.Rows, line)
	}
	if n := len(rows) - len(out.Rows); n > 0 {
		out.Note += fmt.Sprintf(", the first %d of them", len(out.Rows))
	}
	return out
}

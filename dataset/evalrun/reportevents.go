package evalrun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// ShowEvents returns the turns of a trajectory as shown to readers: steps, rejected actions, unreadable turns,
// feedback, and the solved questions shown to the model.
func ShowEvents(events []agent.Event) (out []ShownEvent) {
	var turns event.Turns
	told := map[int]string{} // maps a probe event's ID to what the model was told about an ending not yet recorded
	for _, e := range events {
		if said, why, bad := turns.Unreadable(e); bad {
			call := said.Content
			for _, c := range said.ToolCalls {
				call += "\n" + c.Name + "(" + c.Arguments + ")"
			}
			out = append(out, ShownEvent{ID: e.ID, Refused: "could not be read", Call: shown(call, pageArgument),
				Observation: shown(why, pageArgument)})
		}
		if e.Event == "feedback" {
			out = append(out, ShownEvent{ID: e.ID, Refused: "feedback: " + shown(e.Reason, 20),
				Thought: shown(e.Detail, pageObservation)})
		}
		for _, x := range e.Call.Examples() {
			out = append(out, ShownEvent{ID: e.ID, Thought: "Shown to it: the solved question " + shown(x.ID, 80), Call: shown(x.Question,
				pageArgument),
				Observation: shown(x.SPARQL, pageArgument)})
		}
		if e.Event == "probe" {
			told[e.ID] = e.Detail
		}
		s := e.Step
		if s == nil {
			continue
		}
		p := ShownEvent{ID: e.ID, N: s.N, Tool: shown(s.Action, 40), MS: int(s.MS),
			Thought:     shown(s.Thought, pageObservation),
			Call:        shownCall(s),
			Observation: shown(cmp.Or(s.Observation, told[e.Parent]), pageObservation), Failure: string(s.Failure)}
		switch {
		case e.Event == "rollback" && e.Reason == "stop":
			p.Refused = "refused: a stop without a result"
		case e.Reason == "repeat":
			p.Refused = "refused: a repetition"
		case e.Event == "rollback", e.Reason != "":
			p.Refused = "refused" // the observation contains the reason
		}
		out = append(out, p)
	}
	return out
}

// shownCall returns a step's call as shown to readers. A native call's arguments are on separate lines.
func shownCall(s *event.Step) string {
	name := shown(s.Action, 40)
	if lines := event.ArgumentLines(s.Argument); lines != nil {
		return name + "\n" + shown(strings.Join(lines, "\n"), pageArgument)
	}
	return name + "(" + shown(s.Argument, pageArgument) + ")"
}

// ShowRows returns the first rows of a result as shown to readers.
func ShowRows(raw json.RawMessage) ShownRows {
	var rows []map[string]struct{ Value string }
	if !isTable(raw) || json.Unmarshal(raw, &rows) != nil {
		if len(raw) == 0 || string(raw) == "null" {
			return ShownRows{Note: "no result"}
		}
		return ShownRows{Note: string(raw)}
	}
	out := ShownRows{Note: text.Count(len(rows), "row")}
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

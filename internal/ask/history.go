package ask

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
)

// History reads the earlier turns of a conversation, either from a trajectory, whose question, last query and report
// form one turn, or from JSON lines {"question":…,"sparql":…,"report":…}, one turn per line. An error includes the line
// number, counted from 1.
func History(data []byte) ([]agent.Turn, error) {
	if events, err := event.Read(bytes.NewReader(data)); err == nil && len(events) > 0 {
		return Turns(events), nil
	}
	var turns []agent.Turn
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 16<<20)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var t agent.Turn
		if err := json.Unmarshal(sc.Bytes(), &t); err != nil || t.Question == "" {
			return nil, fmt.Errorf("line %d of the history is not a turn: want {\"question\":\"…\",\"sparql\":\"…\",\"report\":\"…\"}", n)
		}
		turns = append(turns, t)
	}
	return turns, sc.Err()
}

// Turns returns the conversation up to and including the run with these events.
func Turns(events []agent.Event) []agent.Turn {
	var turns []agent.Turn
	var t agent.Turn
	for _, ev := range events {
		switch ev.Event {
		case "start":
			if ev.Question != nil {
				turns, t = slices.Clone(ev.Question.History), agent.Turn{Question: ev.Question.Text}
			}
		case "final":
			t.SPARQL = ev.SPARQL
		case "end":
			t.Report = ev.Report
		}
	}
	t.Steps = event.Steps(events)
	return append(turns, t)
}

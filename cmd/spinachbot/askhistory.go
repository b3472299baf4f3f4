package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
)

// readHistory reads earlier turns: from a trajectory (its question, its last query and report are one turn) or from JSON lines with a turn each.
func readHistory(e *env, path string) ([]agent.Turn, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readInput(e, path)
	if err != nil {
		return nil, fmt.Errorf("the history cannot be read: %w", err)
	}
	if events, terr := event.Read(strings.NewReader(string(data))); terr == nil && len(events) > 0 {
		return turnsOf(events), nil
	}
	var turns []agent.Turn
	sc := bufio.NewScanner(strings.NewReader(string(data)))
	sc.Buffer(nil, 16<<20)
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
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

// readInput reads a file, or standard input for "-".
func readInput(e *env, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(path)
}

// turnsOf makes turns of a trajectory: those it had itself, and its own.
func turnsOf(events []agent.Event) []agent.Turn {
	var turns []agent.Turn
	var t agent.Turn
	for _, ev := range events {
		switch ev.Event {
		case "start":
			if ev.Question != nil {
				turns, t = ev.Question.History, agent.Turn{Question: ev.Question.Text}
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

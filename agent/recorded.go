package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// RecordedRun is one run in SPINACH's released log: the model's thoughts and actions, with the observations. The log
// is the file <out>.log written by its evaluation, a JSON array of final states. Unused fields are omitted.
type RecordedRun struct {
	Question   string           `json:"question"`
	Actions    []RecordedAction `json:"actions"`
	Generated  []RecordedQuery  `json:"generated_sparqls"`
	FinalQuery *RecordedQuery   `json:"final_sparql"` // absent if the stop did not succeed
	Response   string           `json:"response"`     // the report, absent in the released file
}

// RecordedAction is a step in a recorded run. Observation is nil for a stop and for an action that was not run.
type RecordedAction struct {
	Thought     string  `json:"thought"`
	Name        string  `json:"action_name"`
	Argument    string  `json:"action_argument"`
	Observation *string `json:"observation"`
}

// RecordedQuery is an executed query in a recorded run. Result is a list of bindings in SPARQL's JSON format, or a
// truth value. Status is ok, syntax_error, timed_out, other_error or too_large.
type RecordedQuery struct {
	SPARQL string          `json:"sparql"`
	Result json.RawMessage `json:"execution_result"`
	Status string          `json:"execution_status"`
}

// ReadRecordedRuns reads a SPINACH evaluation log.
func ReadRecordedRuns(r io.Reader) ([]RecordedRun, error) {
	var runs []RecordedRun
	if err := json.NewDecoder(r).Decode(&runs); err != nil {
		return nil, fmt.Errorf("this is not a SPINACH evaluation log (a JSON array of runs): %w", err)
	}
	for i, run := range runs {
		if strings.TrimSpace(run.Question) == "" {
			return nil, fmt.Errorf("this is not a SPINACH evaluation log: run %d has no question", i+1)
		}
	}
	return runs, nil
}

// RecordedModel is a [Model] that repeats what the model wrote in a recorded run. It serves a single run of the agent
// and is not safe for concurrent use.
//
// The agent makes more kinds of calls than the record contains. Each kind is answered as follows:
//
//   - act: the record's thoughts and actions in turn, regardless of what the agent observes. The record's formatting
//     calls do not need separate answers: the actions in the log are their result. The actions may run out, because
//     the agent may reject an action that SPINACH's loop accepted, and a different graph may return different rows. If
//     they run out, the model gives up: stop(no answer: …).
//   - prune: the page as the record's model left it at this position. The agent uses only what is on the page that it
//     read; see prune.go.
//   - extract: the query generated last, which is the one SPINACH's evaluation scores when no stop succeeded
//     (evaluate_parser.post_processing).
//   - language: English, which SPINACH uses when it cannot determine the language; the log does not contain that call.
//   - report: the record's response, or nothing if there is none.
//
// Calls cost nothing, since the log has no token counts.
type RecordedModel struct {
	run RecordedRun
	pos int
}

// NewRecordedModel returns a model for a recorded run, positioned at the start of the run.
func NewRecordedModel(run RecordedRun) *RecordedModel { return &RecordedModel{run: run} }

// Position returns how many of the record's actions have been returned.
func (m *RecordedModel) Position() int { return m.pos }

// Complete returns a response from the record.
func (m *RecordedModel) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text := ""
	switch req.Purpose {
	case "act":
		text = m.act()
	case "prune":
		text = m.Observed()
	case "extract":
		text = "NONE"
		if n := len(m.run.Generated); n > 0 {
			text = m.run.Generated[n-1].SPARQL
		}
	case "language":
		text = tool.English.Name
	case "report":
		text = m.run.Response
	default:
		return nil, fmt.Errorf("the recorded run has no call of kind %q: %w", req.Purpose, llm.ErrNoModel)
	}
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}}, Usage: llm.Usage{Calls: 1}}, nil
}

func (m *RecordedModel) act() string {
	if m.pos == len(m.run.Actions) {
		return "Thought: The recorded run ends here.\nAction: stop(no answer: the recorded run ends here)"
	}
	a := m.run.Actions[m.pos]
	m.pos++
	return "Thought: " + strings.TrimSpace(a.Thought) + "\nAction: " + a.Name + "(" + a.Argument + ")"
}

// Observed returns the recorded observation after the last returned action, or "".
func (m *RecordedModel) Observed() string {
	if m.pos > 0 {
		if o := m.run.Actions[m.pos-1].Observation; o != nil {
			return *o
		}
	}
	return ""
}

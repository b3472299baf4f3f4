package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
)

// StopName is the action that ends the work.
const StopName = "stop"

// stopArgs are the arguments of stop: nothing for the last query executed, a step, or why there is no answer.
type stopArgs struct {
	Step     *int    `json:"step,omitempty"`
	NoAnswer *string `json:"no_answer,omitempty"`
}

// Stop is what a call of a tool that ends the work means.
type Stop struct {
	AtStep   bool   // the answer is the query of Step, not the last one
	Step     int    // place in the state, from 1, as the model was told it
	NoAnswer bool   // there is no answer
	Why      string // there is none
}

// ReadStop reads the arguments of stop.
func ReadStop(args json.RawMessage) Stop {
	var a stopArgs
	if decode(args, &a) != nil {
		return Stop{}
	}
	switch {
	case a.NoAnswer != nil:
		return Stop{NoAnswer: true, Why: strings.TrimSpace(*a.NoAnswer)}
	case a.Step != nil:
		return Stop{AtStep: true, Step: *a.Step}
	}
	return Stop{}
}

var (
	noAnswer = regexp.MustCompile(`(?is)^no[ _-]?answer\b[\s:,.\-–—]*(.*)$`)
	// "step 5", "Step #5: the count", "5"
	stopStep = regexp.MustCompile(`(?is)^(?:step[ \t=:#]*([0-9]{1,4})\b.*|#?([0-9]{1,4}))$`)
)

var stopTool = &Tool{
	Name: StopName, Text: "stop.md", Ends: true,
	Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{` +
		`"step":{"type":"integer","description":"the answer is the query of this step; leave it out for the last query executed"},` +
		`"no_answer":{"type":"string","description":"the graph has no answer: why"}}}`),
	FromText: func(text string) json.RawMessage {
		args := map[string]any{}
		if m := noAnswer.FindStringSubmatch(text); m != nil {
			args["no_answer"] = strings.TrimSpace(render.Unquote(m[1]))
		} else if m := stopStep.FindStringSubmatch(text); m != nil {
			args["step"], _ = strconv.Atoi(m[1] + m[2])
		}
		b, err := render.JSON(args)
		if err != nil {
			return json.RawMessage("{}")
		}
		return b
	},
	Show: func(args json.RawMessage) string {
		switch s := ReadStop(args); {
		case s.NoAnswer:
			return "no answer: " + s.Why
		case s.AtStep:
			return fmt.Sprintf("step %d", s.Step)
		}
		return ""
	},
}

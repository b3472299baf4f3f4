package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
)

// StopName is the action that ends the run.
const StopName = "stop"

// stopArgs are the arguments of stop: a step, or the reason there is no answer. If both are nil, the answer is the last
// executed query.
type stopArgs struct {
	Step     *int    `json:"step,omitempty" about:"the answer is the query of this step; leave it out for the last query executed"`
	NoAnswer *string `json:"no_answer,omitempty" about:"the graph has no answer: why"`
}

// end returns the End that the arguments describe.
func (a stopArgs) end() End {
	switch {
	case a.NoAnswer != nil:
		return End{NoAnswer: true, Why: strings.TrimSpace(*a.NoAnswer)}
	case a.Step != nil:
		return End{AtStep: true, Step: *a.Step}
	}
	return End{}
}

var (
	noAnswer = regexp.MustCompile(`(?is)^no[ _-]?answer\b[\s:,.\-–—]*(.*)$`)
	// "step 5", "Step #5: the count", "5"
	stopStep = regexp.MustCompile(`(?is)^(?:step[ \t=:#]*([0-9]{1,4})\b.*|#?([0-9]{1,4}))$`)
)

var stopTool = ending(&Tool{
	Name: StopName, Text: "stop.md",
	FromText: func(text string) json.RawMessage {
		args := map[string]any{}
		if m := noAnswer.FindStringSubmatch(text); m != nil {
			args["no_answer"] = strings.TrimSpace(render.Unquote(m[1]))
		} else if m := stopStep.FindStringSubmatch(text); m != nil {
			args["step"], _ = strconv.Atoi(m[1] + m[2])
		}
		return encoded(args)
	},
	Show: func(args json.RawMessage) string {
		a, err := argumentsOf[stopArgs](args)
		if err != nil {
			return ""
		}
		switch e := a.end(); {
		case e.NoAnswer:
			return "no answer: " + e.Why
		case e.AtStep:
			return fmt.Sprintf("step %d", e.Step)
		}
		return ""
	},
}, stopArgs.end)

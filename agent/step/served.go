package step

import (
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// maxDown is the number of consecutive failures of a graph's service after which a run ends.
const maxDown = 3

// longPause is the longest pause that a query service may request without ending the run.
const longPause = 2 * time.Minute

// served returns the child that results from a call to the graph. The child ends the run if the graph's service stays
// down, has banned us, or requests a pause longer than longPause.
func (s State) served(call protocol.Call, res tool.Result) Child {
	if !tool.Passing(res.Failure) {
		s.down = 0
		return Child{State: s}
	}
	if s.down++; s.down < maxDown && res.Failure != kg.Banned && (!call.Tool.Query || res.RetryAfter <= longPause) {
		return Child{State: s}
	}
	return s.unserved(res.Failure, res.RetryAfter)
}

// unserved returns a child that ends the run because the graph does not respond. Its ending includes the pause that
// the service requested, so that the question is not asked again before the pause is over.
func (s State) unserved(failure kg.Kind, pause time.Duration) Child {
	cause := kg.Errorf(failure, "the graph did not answer")
	cause.RetryAfter = pause
	h := event.NewHalt(event.GraphFailed, cause, "the graph did not answer (%s), %d times in a row", failure, s.down)
	if s.down == 1 {
		h.Detail = fmt.Sprintf("the graph did not answer (%s)", failure)
	}
	return Child{State: s, Outcome: Ended, Final: &Final{Ending: h.Ending}}
}

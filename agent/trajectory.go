package agent

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Format is the version of the trajectory file, the first event's Format field. A reader refuses what it does not know.
const Format = "spinachbot-trajectory-1"

// Event is one line of a trajectory, a JSON-lines file. Which fields are set depends on Event:
//
//	start     Format, Time, Question (with History), Preset, Limits
//	model     Request and Response (or Error and Cause) of one call of the model, in full
//	graph     Call: one call of the graph or the labeler with its result
//	step      Step: one action with its observation
//	rollback  To (number of the last step kept; 0 for none), Reason: repeat or stop, Step: the action that was refused, without a number
//	final     SPARQL, Ran, Table, Endpoint of the last run
//	end       Reason (empty for an answer), Detail, Cause, Report, Language, Confidence, Usage; see [Event.Ending]
type Event struct {
	Event      string         `json:"event"`
	Time       time.Time      `json:"time"`
	Format     string         `json:"format,omitempty"`
	Question   *Question      `json:"question,omitempty"`
	Preset     string         `json:"preset,omitempty"`
	Limits     map[string]any `json:"limits,omitempty"`
	Request    *llm.Request   `json:"request,omitempty"`
	Response   *llm.Response  `json:"response,omitempty"`
	Error      string         `json:"error,omitempty"`
	Cause      *Cause         `json:"cause,omitempty"` // of Error or Reason; files of older versions have none
	Call       *Call          `json:"call,omitempty"`
	Step       *Step          `json:"step,omitempty"`
	To         *int           `json:"to,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	SPARQL     string         `json:"sparql,omitempty"`
	Ran        string         `json:"ran,omitempty"`
	Table      *kg.Table      `json:"table,omitempty"`
	Endpoint   string         `json:"endpoint,omitempty"`
	Detail     string         `json:"detail,omitempty"`
	Report     string         `json:"report,omitempty"`
	Language   string         `json:"language,omitempty"`
	Confidence float64        `json:"confidence,omitempty"`
	Usage      *llm.Usage     `json:"usage,omitempty"`
}

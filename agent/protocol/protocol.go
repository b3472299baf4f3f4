// Package protocol converts conversations to messages, and the model's messages to tool calls. There are three
// protocols: text, in which the model writes a thought and an action; native, in which it calls tools through the chat
// interface; and fenced, in which it writes a query.
package protocol

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Call is a call to a tool.
type Call struct {
	ID    string // ID of a native call, which its result repeats
	Tool  *tool.Tool
	Args  json.RawMessage
	Shown string // the argument as shown to people, between parentheses
	// why this one call of the turn cannot be run; nil for a valid call. If Problem is set, Tool has only a name.
	Problem *Problem
}

// Turn is a parsed message from the model.
type Turn struct {
	Thought   string
	Reasoning string // what a reasoning model thought before the message
	Calls     []Call // at least one, in the order in which the message contains them
	More      bool   // further calls in the message were ignored
}

// Exchange is a finished step in the conversation.
type Exchange struct {
	Turn                 int // steps in the same turn have the same number
	Thought, Reasoning   string
	ID, Action, Argument string
	Args                 json.RawMessage
	Observation          string
	Notes                []string // what the model was told after the step
	Given                bool     // the step preceded the model's first turn, and the model did not request it
	// a message that could not be read, instead of a step; Notes are the responses to it
	Bad *llm.Choice
}

// Conversation is the part of a run that is shown to the model.
type Conversation struct {
	System   string
	Question string   // includes earlier turns of the conversation
	Notes    []string // what the model was told before the first step
	Steps    []Exchange
	Bad      *llm.Choice // the model's last message, if it could not be read
	BadNotes []string    // the reply to it
}

// Protocol defines how the model uses tools.
type Protocol interface {
	// Prepare adds to a request what the protocol requires besides messages.
	Prepare(req *llm.Request, tools tool.Set, show tool.Show)
	// Messages returns the conversation as messages.
	Messages(c Conversation) []llm.Message
	// Read parses a message from the model. The Problem describes what the model must correct; it is nil if the turn
	// has at least one call.
	Read(ch llm.Choice, tools tool.Set) (Turn, *Problem)
}

// Options selects a protocol.
type Options struct {
	Name     string        // text, native or fenced
	Parallel bool          // a native turn may contain several calls
	Strict   bool          // the server must enforce the schemas on native calls
	Own      *render.Texts // overrides for the texts in texts.tmpl, by name; may be nil
}

// WithoutTools returns the protocol for native tools on a server that does not support tool calls. The calls are
// written as text, with JSON arguments.
func WithoutTools(own *render.Texts, tools tool.Set, show tool.Show) Protocol {
	return Text{words{own}, &listing{tools, show}}
}

// Named returns the protocol selected by o.
func Named(o Options) (Protocol, error) {
	w, name := words{o.Own}, o.Name
	switch name {
	case "text":
		return Text{w, nil}, nil
	case "native":
		return Native{w, o.Parallel, o.Strict}, nil
	case "fenced":
		return Fenced{w}, nil
	}
	return nil, fmt.Errorf("there is no protocol %q; the protocols are text, native and fenced", name)
}

// Kind is the kind of problem that a turn has.
type Kind string

// The kinds of problems. Each value is the name of the text that explains the problem to the model.
const (
	Empty      Kind = "bad_empty"     // the message has neither text nor a call
	Cut        Kind = "bad_cut"       // the message was cut off at the length limit
	NoAction   Kind = "bad_no_action" // the message has no call
	NoTool     Kind = "bad_name"      // the tool does not exist
	NoArgument Kind = "bad_argument"  // the argument is missing
	BadJSON    Kind = "bad_json"      // a native call's arguments are not valid JSON or do not match the tool's schema
)

// Problem describes why a message cannot be read.
type Problem struct {
	Kind    Kind
	Message string // for the model
}

// Name returns the name used to count problems of this kind, such as "empty" or "no_action".
func (k Kind) Name() string { return strings.TrimPrefix(string(k), "bad_") }

// Error returns the text for the model.
func (p *Problem) Error() string { return p.Message }

//go:embed texts.tmpl
var textFiles embed.FS

var texts = render.MustTexts(textFiles, "texts.tmpl")

// words contains a protocol's wording: the default, or a preset's replacement.
type words struct{ own *render.Texts }

func (w words) say(name string, data any) string {
	if w.own != nil && w.own.Has(name) {
		return w.own.Say(name, data)
	}
	return texts.Say(name, data)
}

func (w words) problem(k Kind, data any) *Problem { return &Problem{k, w.say(string(k), data)} }

func (w words) unknownTool(name string, tools tool.Set) *Problem {
	return w.problem(NoTool, map[string]any{"Name": render.Clip(name, 60), "Names": tools.List()})
}

// maxBad is the maximum number of characters of an unreadable message that are shown to the model again.
const maxBad = 3000

// Limits on the unreadable calls that are repeated to the model: the number of calls, and the number of characters in a
// tool name.
const (
	maxBadCalls = 20
	maxName     = 60
)

// finishLength is the finish reason of a message that was cut off at the length limit.
const finishLength = "length"

package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rules contains the settings for those aspects of the loop in which the published systems differ.
type Rules struct {
	Repeat string `json:"repeat"` // what happens after a repetition; see [RepeatRestore]
	Stop   string `json:"stop"`   // what happens after a stop on a query without a result; see [StopRestore]
	// what happens after a turn without an action: "nudge" tells the model, "end" ends the run
	NoAction string `json:"no_action"`
	// accept an answer from a turn without an action (a JSON object or a fenced query); at a limit, use the last query
	// executed
	Salvage   bool `json:"salvage"`
	Messages  int  `json:"messages"`   // maximum number of messages in the conversation; no limit if 0
	TrimLimit bool `json:"trim_limit"` // remove LIMIT 10, meant for exploring, from the end of the final query
	// run faster forms of a query that takes too long, and publish the one that returned a result; also publish a query in
	// the dialect of a second service if it was sent there
	Rescue bool   `json:"rescue"`
	Count  bool   `json:"count"` // tell the model how many steps are left
	Guard  string `json:"guard"` // how IDs that have not been shown are handled; see [GuardOff]
	// IDs that need not be shown before use because every expert knows them
	Known []string `json:"known"`
	// the conversation is append-only, so that a provider's cache of its prefix stays valid: rejected and unreadable
	// turns remain in it, with the reason
	Append bool `json:"append"`
	Number bool `json:"number"` // each observation starts with its step's number
	// compare the answer's columns with the columns announced by the model and with the question; see shape.go in
	// package step
	Shape bool `json:"shape"`
	// classify a post and take the first turn toward answering it in a single call
	Triage bool `json:"triage"`
	// if the question is from a wiki page, add the label service to the answer's query; see labels.go in package step
	Labels bool `json:"labels"`
	// look up the question's names and relations before the model's first turn
	Beforehand bool `json:"beforehand"`
}

// What happens after a repetition.
const (
	// a call identical to one that is still in the state is rejected; the second consecutive rejection restores the
	// state before that call
	RepeatRestore = "restore"
	RepeatRefuse  = "refuse" // such a call is always rejected; in an append-only conversation, four in a row end the run
	RepeatNone    = "none"   // the action is run again
	// a turn identical to the previous one is not run, and the model is told so; the next such turn ends the run
	RepeatLoop = "loop"
	RepeatEnd  = "end" // a turn identical to the previous one ends the run
)

// What happens after a stop without a result, that is, if the query returned nothing or failed, or if there is no
// query.
const (
	StopRestore = "restore" // the stop is rejected; a second consecutive rejection restores the state before the query
	StopRefuse  = "refuse"  // the stop is always rejected
	StopAccept  = "accept"  // the run ends without an answer
)

// How the program handles IDs in a query that occur neither in an observation or rule nor in the question.
const (
	GuardOff    = "off"
	GuardName   = "name"    // the query is run, and the model is told their labels
	GuardLookUp = "look_up" // the query is run, and the model is told their labels, descriptions and use in the graph
	GuardRefuse = "refuse"  // like GuardLookUp, but the query is not run; the IDs are then treated as shown
	// GRASP's rule: the query is not run. An ID in the question is not known unless it was shown, and neither is another
	// form of a property that was shown: wdt:P31 does not make p:P31 known. IDs from common vocabularies are always known.
	GuardKnown = "known"
)

// check fills in the default rules. It returns an error that lists all problems, or nil if there are none.
func (r *Rules) check() error {
	var wrong []error
	one := func(v *string, name string, words ...string) {
		if *v == "" {
			*v = words[0]
		}
		if !slices.Contains(words, *v) {
			wrong = append(wrong, fmt.Errorf(`"rules": %q is %q; it must be one of %s`, name, *v,
				strings.Join(words, ", ")))
		}
	}
	one(&r.Repeat, "repeat", RepeatRestore, RepeatRefuse, RepeatNone, RepeatLoop, RepeatEnd)
	one(&r.Stop, "stop", StopRestore, StopRefuse, StopAccept)
	one(&r.NoAction, "no_action", "nudge", "end")
	one(&r.Guard, "guard", GuardName, GuardOff, GuardLookUp, GuardRefuse, GuardKnown)
	if r.Append && (r.Repeat == RepeatRestore || r.Stop == StopRestore || r.Count) {
		wrong = append(wrong, errors.New(`"rules": "append" cannot be combined with "count" or "restore", which remove `+
			`what was said`))
	}
	if r.Messages < 0 {
		wrong = append(wrong, errors.New(`"rules": "messages" is below 0`))
	}
	return errors.Join(wrong...)
}

// Feedback contains the settings for a second opinion on an answer: a fresh call to the model judges the answer before
// it becomes final (GRASP-F).
type Feedback struct {
	Rounds int `json:"rounds"` // how many times the run may continue because of feedback; no feedback if 0
}

// Examples contains the settings for solved questions shown to the model.
type Examples struct {
	N int `json:"n"` // number of questions; none if 0
	// name of the tool that shows the questions before the model's first turn, as if the model had called it; if empty,
	// the model calls such a tool itself
	Force string `json:"force"`
}

// Notes contains the settings for adding lessons about a graph to the prompt.
type Notes struct {
	N int `json:"n"` // maximum number of lessons; none if 0
}

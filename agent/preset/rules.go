package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rules are the parts of the loop's behavior in which the published systems differ.
type Rules struct {
	Repeat string `json:"repeat"` // what happens after a repetition, see [RepeatRestore]
	Stop   string `json:"stop"`   // what happens after a stop on a query without result, see [StopRestore]
	// what happens after a turn without an action: "nudge" tells the model, "end" ends the run
	NoAction string `json:"no_action"`
	// take the answer from a turn without an action (a JSON object, a fenced query); when a limit is reached, take the
	// last query executed
	Salvage   bool `json:"salvage"`
	Messages  int  `json:"messages"`   // of the conversation, at which the run ends; 0: any number
	TrimLimit bool `json:"trim_limit"` // remove an exploring LIMIT 10 from the end of the final query
	// run faster forms of a query that takes too long; the form that returned something is published, and so is a form
	// that was sent to a second service in that service's dialect
	Rescue bool   `json:"rescue"`
	Count  bool   `json:"count"` // tell the model how many steps are left
	Guard  string `json:"guard"` // how IDs that were not shown are handled, see [GuardOff]
	// IDs that need not be shown, because every expert knows them
	Known []string `json:"known"`
	// the conversation only grows, so that a provider's cache of its beginning stays valid: refused and unreadable turns
	// stay in it, with the reason
	Append bool `json:"append"`
	Number bool `json:"number"` // each observation begins with the number of its step
	// the answer's columns are compared with those that were announced and with the question, see shape.go in step
	Shape bool `json:"shape"`
	// the judgment of a post and the first turn of the work on it are one call
	Triage bool `json:"triage"`
	// look up the names and relations of the question before the model's first turn
	Beforehand bool `json:"beforehand"`
}

// What happens after a repetition.
const (
	// a call equal to one still in the state is refused; the second refusal in a row restores the state before it
	RepeatRestore = "restore"
	RepeatRefuse  = "refuse" // the same, and it is refused every time; in a conversation that only grows, four in a row end the run
	RepeatNone    = "none"   // it is carried out
	// a reply equal to the one before it is not carried out, and the model is told; the next one ends the run
	RepeatLoop = "loop"
	RepeatEnd  = "end" // a reply equal to the one before it ends the run
)

// What happens after a stop without a result: the query returned nothing or failed, or there is none.
const (
	StopRestore = "restore" // it is refused; the second refusal in a row restores the state before the query
	StopRefuse  = "refuse"  // it is refused every time
	StopAccept  = "accept"  // the run ends, without an answer
)

// How IDs are handled that are in a query but in no observation, no rule and no word of the question.
const (
	GuardOff    = "off"
	GuardName   = "name"    // the query runs, and the model is told their labels
	GuardLookUp = "look_up" // the query runs, and the model is told label, description and use in the graph
	GuardRefuse = "refuse"  // the query does not run, and the model is told the same; after that the IDs count as shown
	// GRASP's rule: the query does not run. IDs in the question do not count as shown, and neither do other forms of a
	// property that was shown (wdt:P31 does not make p:P31 known); IDs of common vocabularies do.
	GuardKnown = "known"
)

// check fills in the usual rules and returns what is wrong.
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

// Feedback is a second opinion on an answer: a fresh call to the model judges it before it is final (GRASP-F).
type Feedback struct {
	Rounds int `json:"rounds"` // how often the work may continue because of it; 0: no feedback
}

// Examples are solved questions that the model is shown.
type Examples struct {
	N int `json:"n"` // how many; 0: none
	// put them into the conversation before the model's first turn, as if it had called this tool; "": the model calls it
	// itself
	Force string `json:"force"`
}

// Notes are lessons on a graph in the prompt.
type Notes struct {
	N int `json:"n"` // at most; 0: none
}

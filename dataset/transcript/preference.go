package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/text"
)

// preference is a line of preference data in conversational format: two turns after the same prompt, one better than
// the other.
type preference struct {
	Prompt   []message    `json:"prompt"`
	Chosen   []message    `json:"chosen"`
	Rejected []message    `json:"rejected"`
	Tools    []openAITool `json:"tools,omitempty"`
	Source   PairSource   `json:"source"`
}

// Pair is a line of training data.
type Pair struct {
	Key  string // equal for two pairs with the same strings
	Line []byte
	From string // review or tree; "" for a dialogue
}

// PairSource is the source of a pair.
type PairSource struct {
	Provenance
	From          string   `json:"from"`                     // review or tree
	By            string   `json:"by,omitempty"`             // who reviewed
	ChosenEvent   int      `json:"chosen_event"`             // ID of the review or of the step
	RejectedEvent int      `json:"rejected_event"`           // ID of the model's call, the earlier review, or the step
	ChosenValue   *float64 `json:"chosen_value,omitempty"`   // assigned by the search, 0 to 1
	RejectedValue *float64 `json:"rejected_value,omitempty"` // likewise
	Why           string   `json:"why,omitempty"`            // why the rejected branch ended
}

// Preferences writes the preference pairs in a run, one per line. A turn that a reviewer wrote is better than the
// model's turn that it replaced, and a step on the path to a search's answer is better than its siblings. file is the
// name of the trajectory. Each pair of strings is written only once.
//
// A sibling of a step on the answer's path is worse than that step if the sibling's branch ended without a result, or
// if the search gave the sibling a lower value, but not if its branch reached the same result. A step whose message
// cannot be determined is left out.
func (r *Run) Preferences(file string) ([]Pair, error) {
	p := pairing{run: r, file: file, at: map[int]*event.Event{}, kept: map[int]bool{}, seen: map[string]bool{}}
	for i := range r.events {
		e := &r.events[i]
		p.at[e.ID] = e
		if e.Event == "final" {
			p.answered = e.ID
		}
	}
	for _, e := range r.way {
		p.kept[e.ID] = true
	}
	p.reviews()
	p.trees()
	return p.lines, p.err
}

// pairing holds the state while the pairs in a run are collected.
type pairing struct {
	run      *Run
	file     string
	at       map[int]*event.Event
	kept     map[int]bool // events on the path to the answer
	answered int          // ID of the final event, or 0 if there is none
	seen     map[string]bool
	lines    []Pair
	err      error
}

// asked returns the call to the model that led to an event, or nil if there was no call about the main question after
// the previous step.
func (p *pairing) asked(e *event.Event) *event.Event {
	for up := p.at[e.Parent]; up != nil && up.Event != "step"; up = p.at[up.Parent] {
		if up.Event == "model" {
			if up.Request == nil || up.Response == nil || len(up.Response.Choices) == 0 ||
				!slices.Contains(main, up.Request.Purpose) {
				return nil
			}
			return up
		}
	}
	return nil
}

// said is a message and the event that contains it.
type said struct {
	message llm.Message
	event   int
	value   *float64
	why     string
}

func (p *pairing) pair(from, by string, asked *event.Event, better, worse said) {
	o := preference{Chosen: []message{messageOf(better.message)}, Rejected: []message{messageOf(worse.message)}}
	for _, m := range asked.Request.Messages {
		o.Prompt = append(o.Prompt, messageOf(m))
	}
	for _, t := range asked.Request.Tools {
		o.Tools = append(o.Tools, openAITool{"function", openAIFunction{t.Name, t.Description, t.Parameters, t.Strict}})
	}
	key, err := json.Marshal([]any{o.Prompt, bare(o.Chosen), bare(o.Rejected)})
	if err != nil || p.err != nil {
		p.err = err
		return
	}
	same, err := json.Marshal([]any{o.Prompt, bare(o.Chosen), bare(o.Chosen)})
	if err != nil || string(key) == string(same) || p.seen[string(key)] {
		return // the two turns are equal, or the pair was seen before
	}
	p.seen[string(key)] = true
	o.Source = PairSource{Provenance: p.run.provenance(p.file), From: from, By: by, ChosenEvent: better.event,
		RejectedEvent: worse.event, ChosenValue: better.value, RejectedValue: worse.value, Why: worse.why}
	b, err := line(o)
	if err != nil {
		p.err = err
		return
	}
	p.lines = append(p.lines, Pair{string(key), b, from})
}

// bare returns a turn without the parts that are ignored in comparisons: the reasoning and the call IDs.
func bare(turn []message) []message {
	out := slices.Clone(turn)
	for i := range out {
		out[i].Reasoning, out[i].ToolCalls = "", slices.Clone(out[i].ToolCalls)
		for j := range out[i].ToolCalls {
			out[i].ToolCalls[j].ID = ""
		}
	}
	return out
}

// reviews pairs the kept version of each reviewed turn with the worse ones: the model's version, and reviewed versions
// that were not kept.
func (p *pairing) reviews() {
	of := map[*event.Event][]*event.Event{}
	var order []*event.Event
	for i := range p.run.events {
		e := &p.run.events[i]
		if e.Event != "review" || e.Review == nil || e.Review.Before == nil {
			continue
		}
		if asked := p.asked(e); asked != nil {
			if of[asked] == nil {
				order = append(order, asked)
			}
			of[asked] = append(of[asked], e)
		}
	}
	for _, asked := range order {
		var better *said
		by := ""
		for _, e := range of[asked] {
			if s, ok := decided(e); ok && p.kept[e.ID] {
				better, by = &s, e.Review.By
			}
		}
		if better == nil {
			continue
		}
		before := of[asked][0].Review.Before
		p.pair("review", by, asked, *better, said{message: *before, event: asked.ID})
		for _, e := range of[asked] {
			if s, ok := decided(e); ok && !p.kept[e.ID] {
				p.pair("review", by, asked, *better, s)
			}
		}
	}
}

// decided returns the turn that a decision accepted.
func decided(e *event.Event) (said, bool) {
	switch {
	case e.Review.Verdict == event.Accepted:
		return said{message: *e.Review.Before, event: e.ID}, true
	case e.Review.Verdict == event.Edited && e.Review.After != nil:
		return said{message: *e.Review.After, event: e.ID}, true
	}
	return said{}, false
}

// trees pairs each step on a search's path to the answer with its siblings.
func (p *pairing) trees() {
	if p.answered == 0 || !slices.ContainsFunc(p.run.events, func(e event.Event) bool { return e.Event == "tree" }) {
		return
	}
	w := p.weigh()
	for i := range p.run.events {
		e := &p.run.events[i]
		if e.Event != "step" || !p.kept[e.ID] {
			continue
		}
		asked := p.asked(e)
		better, ok := p.spoken(asked, e, w)
		if !ok {
			continue
		}
		for _, id := range w.children[w.above[e.ID]] {
			other := p.at[id]
			if p.kept[id] || w.same[id] || !w.worse(id, e.ID) {
				continue
			}
			if worse, ok := p.spoken(p.asked(other), other, w); ok {
				p.pair("tree", "", asked, better, worse)
			}
		}
	}
}

// spoken finds the message in which the model requested a step. ok is false if the message is unknown.
func (p *pairing) spoken(asked, e *event.Event, w *weights) (s said, ok bool) {
	if asked == nil {
		return s, false
	}
	for _, c := range asked.Response.Choices {
		if asksFor(c, e.Step) {
			return said{message: messageIn(c), event: e.ID, value: w.value(e.ID), why: w.leaf[e.ID]}, true
		}
	}
	return s, false
}

// asksFor reports whether a message requests a step.
func asksFor(c llm.Choice, s *event.Step) bool {
	argument := text.Fold(s.Argument)
	if len(c.ToolCalls) == 0 {
		said := text.Fold(c.Content)
		return strings.Contains(strings.ToLower(said), strings.ToLower(s.Action)) && strings.Contains(said, argument) &&
			strings.Contains(said, text.Fold(s.Thought))
	}
	for _, call := range c.ToolCalls {
		if call.Name != s.Action || text.Fold(c.Content) != text.Fold(s.Thought) {
			continue
		}
		if text.Fold(call.Arguments) == argument || sameArguments(call.Arguments, s.Argument) {
			return true
		}
	}
	return false
}

// sameArguments reports whether the displayed form of a call matches its arguments, either as JSON or as one of the
// strings in them.
func sameArguments(arguments, shown string) bool {
	var a, b map[string]any
	if json.Unmarshal([]byte(arguments), &a) != nil {
		return false
	}
	if json.Unmarshal([]byte(shown), &b) == nil {
		x, err := json.Marshal(a)
		y, err2 := json.Marshal(b)
		return err == nil && err2 == nil && string(x) == string(y)
	}
	for _, v := range a {
		if s, ok := v.(string); ok && strings.TrimSpace(s) == strings.TrimSpace(shown) {
			return true
		}
	}
	return len(a) == 0 && strings.TrimSpace(shown) == ""
}

// weights are the values that a search assigned to its steps.
type weights struct {
	above    map[int]int    // the step above an event, or 0 if there is none
	children map[int][]int  // of a step
	leaf     map[int]string // why a branch ended at a step
	same     map[int]bool   // steps below which the answer's result was reached
	score    map[int]float64
	reward   map[int]float64
	visits   map[int]int
}

func (p *pairing) weigh() *weights {
	w := &weights{above: map[int]int{}, children: map[int][]int{}, leaf: map[int]string{}, same: map[int]bool{},
		score: map[int]float64{}, reward: map[int]float64{}, visits: map[int]int{}}
	nearest := map[int]int{} // maps an event to the step at or above it
	for i := range p.run.events {
		e := &p.run.events[i]
		at := nearest[e.Parent]
		nearest[e.ID] = at
		switch e.Event {
		case "step":
			w.above[e.ID], nearest[e.ID] = at, e.ID
			w.children[at] = append(w.children[at], e.ID)
		case "score":
			if e.Value != nil {
				w.score[at] = *e.Value
			}
		case "visit":
			for _, id := range e.Path {
				if e.Value != nil {
					w.visits[id]++
					w.reward[id] += *e.Value
				}
			}
		case "leaf":
			if e.Parent == at {
				w.leaf[at] = e.Reason
			}
		case "vote":
			w.vote(e, nearest)
		}
	}
	return w
}

// vote marks the steps that led to the chosen result.
func (w *weights) vote(e *event.Event, nearest map[int]int) {
	for _, g := range e.Groups {
		if !g.Chosen {
			continue
		}
		for _, end := range g.Ends {
			for id := nearest[end]; id > 0 && !w.same[id]; id = w.above[id] {
				w.same[id] = true
			}
		}
	}
}

// value returns the mean of a step's rewards or, if it has none, its score, or nil if it has neither.
func (w *weights) value(id int) *float64 {
	v, ok := w.score[id]
	if n := w.visits[id]; n > 0 {
		v, ok = w.reward[id]/float64(n), true
	}
	if !ok {
		return nil
	}
	return &v
}

func (w *weights) worse(id, than int) bool {
	if r := w.leaf[id]; r != "" && r != event.LeafAnswered && r != event.LeafDeep {
		return true
	}
	a, b := w.value(id), w.value(than)
	return a != nil && b != nil && *a < *b
}

package event

import "slices"

// Path returns the events on the path from the root to the one with this ID; 0 means the last event. The path is empty
// if there is no such event.
func Path(events []Event, id int) []Event {
	at := make(map[int]int, len(events))
	for i, e := range events {
		at[e.ID] = i
	}
	if id == 0 && len(events) > 0 {
		id = events[len(events)-1].ID
	}
	var out []Event
	for i, ok := at[id]; ok && len(out) < len(events); i, ok = at[id] {
		out, id = append(out, events[i]), events[i].Parent
	}
	slices.Reverse(out)
	return out
}

// Steps returns the steps on the path to the last event: the steps that led to the answer, excluding steps on other
// branches and steps abandoned by a rollback.
func Steps(events []Event) []Step {
	var out []Step
	for _, e := range Path(events, 0) {
		if e.Event == "step" && e.Step != nil {
			out = append(out, *e.Step)
		}
	}
	return out
}

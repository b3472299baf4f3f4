package reply

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// stepKinds maps the presets' tools to the kinds of steps shown in a reply. Calls that end a run are not shown as
// steps. A tool that is not listed is shown by its name.
var stepKinds = map[string]string{
	"look_up_question": forum.StepNames, "look_up": forum.StepNames,

	"search_wikidata": forum.StepSearch, "find": forum.StepSearch, "search": forum.StepSearch,
	"search_entity": forum.StepSearch, "search_property": forum.StepSearch, "search_property_of_entity": forum.StepSearch,
	"search_object_of_property": forum.StepSearch, "search_constrained": forum.StepSearch,
	"search_autocomplete": forum.StepSearch, "search_literal": forum.StepSearch, "SearchNodes": forum.StepSearch,

	"get_wikidata_entry": forum.StepLook, "look": forum.StepLook, "list": forum.StepLook, "profile": forum.StepLook,
	"get_property_examples": forum.StepLook, "statements": forum.StepLook, "hierarchy": forum.StepLook,
	"labels": forum.StepLook, "SearchGraphPatterns": forum.StepLook,

	"execute_sparql": forum.StepQuery, "query": forum.StepQuery, "execute": forum.StepQuery,
	"ExecuteSPARQL": forum.StepQuery, "check_and_run": forum.StepQuery,

	"stop": "", "finish": "", "answer": "", "cancel": "", "answer_text": "", "cancel_text": "", "Done": "",
}

// steps returns the steps of a run for display in a reply. They describe the actions in the reply's language, using the
// forum package's messages, and never quote the model.
func steps(out *agent.Outcome) []forum.Step {
	var shown []forum.Step
	used, named := usedIn(out)
	labels := sync.OnceValue(func() map[string]string { return labelsIn(out) })
	for _, s := range out.Steps {
		kind, known := stepKinds[s.Action]
		if !known {
			kind = forum.StepOther
		}
		step := forum.Step{Kind: kind, Rows: s.Rows, Failed: s.Failure != ""}
		if kind == forum.StepQuery {
			step.Query, step.Ask = queryOf(s.Argument)
			if a := out.Answer; a != nil && a.Table != nil && s.Rows == len(a.Table.Rows) &&
				sameQuery(plain(s.Argument), a, out.Language) {
				step.Rows, step.Answer = len(Distinct(a.Table.Rows)), true // as in the table
			}
		}
		refused := s.Failure == kg.QueryFailed && (kind == forum.StepSearch || kind == forum.StepLook)
		switch kind {
		case "":
			continue
		case forum.StepOther:
			step.Text = s.Action
		case forum.StepNames:
			var heads []string
			for _, m := range headOfLine.FindAllStringSubmatch(s.Observation, -1) {
				if used[m[1]] {
					heads = append(heads, m[1])
				}
			}
			if step.Things = things(strings.Join(heads, " "), labels); len(step.Things) == 0 {
				continue // the program always makes this call; here, it found nothing
			}
		case forum.StepSearch:
			step.Text = plain(s.Argument)
			var fits []string // what was found and then used
			for line := range strings.Lines(s.Observation) {
				if id := entityInText.FindString(line); used[id] || named[id] { // not those in a description
					fits = append(fits, id)
				}
			}
			step.Things = things(strings.Join(fits, " "), labels)
			step.Unused = len(fits) == 0 && entityInText.MatchString(s.Observation)
		case forum.StepLook:
			if step.Things = things(s.Argument, labels); len(step.Things) == 0 {
				step.Kind, step.Text = forum.StepSearch, plain(s.Argument)
			}
		}
		if !refused { // a call with invalid arguments, so nothing was done
			shown = append(shown, step)
		}
	}
	shown = withoutParts(shown)
	return append(shown, lastStep(shown, out.Answer)...)
}

// usedIn returns two sets of entities: those in the answer (or, if there is none, in the steps' arguments), and those
// in the arguments.
func usedIn(out *agent.Outcome) (used, named map[string]bool) {
	used, named = map[string]bool{}, map[string]bool{}
	for _, s := range out.Steps {
		for _, id := range entityInText.FindAllString(s.Argument, -1) {
			used[id], named[id] = out.Answer == nil, true
		}
	}
	if out.Answer != nil {
		for id, label := range out.Answer.Labels {
			used[id] = label != ""
		}
	}
	return used, named
}

// withoutParts leaves out each step that is followed by one that examines the same things and more.
func withoutParts(steps []forum.Step) (out []forum.Step) {
	for i, s := range steps {
		missing := func(v forum.Cell) bool { return !slices.Contains(steps[i+1].Things, v) }
		if s.Kind != forum.StepLook || i+1 == len(steps) || steps[i+1].Kind != s.Kind ||
			slices.ContainsFunc(s.Things, missing) {
			out = append(out, s)
		}
	}
	return out
}

// lastStep returns the step that ran the answer's query if none of those shown did, because the model changed the query
// when it ended the run.
func lastStep(shown []forum.Step, a *agent.Answer) []forum.Step {
	asked := slices.ContainsFunc(shown, func(s forum.Step) bool { return s.Kind == forum.StepQuery })
	marked := slices.ContainsFunc(shown, func(s forum.Step) bool { return s.Answer })
	if !asked || marked || a == nil || a.Table == nil {
		return nil
	}
	return []forum.Step{{Kind: forum.StepQuery, Rows: len(Distinct(a.Table.Rows)), Ask: a.Table.Ask, Answer: true}}
}

// maxThings is the maximum number of entities kept for a step: more than are shown, so that the reply can indicate that
// there are more.
const maxThings = forum.MaxThings + 2

var (
	entityInText = regexp.MustCompile(`\b[QP][1-9]\d{0,10}\b`)
	// a line starts with an entity that was found by name: Africa (Q15), continent
	headOfLine = regexp.MustCompile(`(?m)^[^\s();](?:[^\n();]|\(s\)){0,99} \(([QP][1-9]\d{0,10})\)`)
)

// labelsIn returns the labels of the entities in a run, from the answer and the observations.
func labelsIn(out *agent.Outcome) map[string]string {
	names := agent.LabelsIn(out.Steps)
	if out.Answer != nil {
		maps.Copy(names, out.Answer.Labels)
	}
	return names
}

// things returns the first entities mentioned in a string, with their labels.
func things(in string, labels func() map[string]string) []forum.Cell {
	var cells []forum.Cell
	seen := map[string]bool{}
	for _, id := range entityInText.FindAllString(in, -1) {
		if !seen[id] && len(cells) < maxThings {
			cells = append(cells, forum.Cell{ID: id, Label: readable(labels()[id])})
		}
		seen[id] = true
	}
	same := map[string]int{}
	for _, c := range cells {
		same[c.Label]++
	}
	for i, c := range cells {
		if c.Label != "" && same[c.Label] > 1 {
			cells[i].Label += " (" + c.ID + ")"
		}
	}
	return cells
}

// maxStepQuery is the maximum length in bytes of a step's query; longer queries are not linked.
const maxStepQuery = 600

// queryOf returns the query that a call ran and whether it is an ASK query. The query is "" if there is none or if it
// is too long.
func queryOf(argument string) (query string, ask bool) {
	text := strings.TrimSpace(plain(argument))
	q, err := sparql.Parse(text)
	if err != nil {
		return "", false
	}
	if len(text) > maxStepQuery {
		text = ""
	}
	return text, q.Form == sparql.Ask
}

// sameQuery reports whether an answer's query is the query of a step, except for layout, comments, and labels that were
// added to it.
func sameQuery(step string, a *agent.Answer, language string) bool {
	var labelled []string
	for _, v := range a.Table.Vars {
		if slices.Contains(a.Table.Vars, v+"Label") {
			labelled = append(labelled, v)
		}
	}
	x, err := sparql.Parse(sparql.WithLabels(step, labelled, language))
	y, also := sparql.Parse(a.SPARQL)
	if err != nil || also != nil {
		return false
	}
	bare := sparql.PrintOptions{OneLine: true}
	return sparql.Print(x, bare) == sparql.Print(y, bare)
}

// asides are the arguments that specify how to look something up, rather than what to look up.
var asides = map[string]bool{"type": true, "kg": true, "language": true, "page": true}

// plain returns the content of a call in readable form. For a native call in JSON, this is the query or the other
// strings, except text for the asker, which is in the reply anyway.
func plain(argument string) string {
	var args map[string]any
	if json.Unmarshal([]byte(argument), &args) != nil {
		return argument
	}
	if q, ok := args["sparql"].(string); ok {
		return q
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name == "answer" || asides[name] {
			continue
		}
		switch v := args[name].(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, x := range v {
				out = append(out, fmt.Sprint(x))
			}
		}
	}
	return strings.Join(out, ", ")
}

package forum

import (
	"fmt"
	"slices"
	"strings"
)

// steps adds the collapsed list of steps that led to the answer, one sentence per step.
func (c *composer) steps() error {
	var steps []string
	answer := "" // the step that ran the posted query
	for _, s := range c.r.Steps {
		text, err := c.step(s)
		if err != nil {
			return err
		}
		if s.Answer {
			answer = text
		}
		again := slices.Contains(steps, text) && (s.Kind == StepLook || s.Kind == StepSearch)
		if text != "" && !again {
			steps = append(steps, text)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	key := "steps"
	if c.r.NoAnswer != "" || c.r.Asks != "" {
		key = "steps_tried"
	}
	all := once(steps)
	at := slices.IndexFunc(all, func(text string) bool { return answer != "" && strings.HasPrefix(text, answer) })
	c.block(c.folded(c.t.Text(key, "count", len(all)), all, at))
	return nil
}

// listed returns a list of steps. If there are too many, it contains the first ones and the step at index answer, which
// ran the posted query. Where steps are left out, it says how many, which is never just one.
func (c *composer) listed(all []string, answer int) string {
	n, first, tail := len(all), len(all), 0 // number of steps at the start, and from answer on
	if n > maxSteps {
		first = min(maxSteps, n-2)
	}
	if answer >= first {
		if tail = 1; answer == n-2 {
			tail = 2
		}
		first = min(maxSteps-tail, answer-2)
	}
	below := ""
	more := func(count int) {
		if count > 0 {
			below += "\n\n… " + c.t.Text("steps_more", "count", count)
		}
	}
	if tail > 0 {
		more(answer - first)
		for i, text := range all[answer : answer+tail] {
			below += fmt.Sprintf("\n\n%d. %s", answer+i+1, text)
		}
		more(n - answer - tail)
	} else {
		more(n - first)
	}
	if c.r.ShownQuery() == "" {
		return "<ol><li>" + strings.Join(all[:first], "</li><li>") + "</li></ol>" + strings.TrimSpace(below)
	}
	return "\n# " + strings.Join(all[:first], "\n# ") + below
}

// once combines consecutive identical steps: "Ran a query: no rows (×3)".
func once(steps []string) (lines []string) {
	for i := 0; i < len(steps); {
		n := 1
		for i+n < len(steps) && steps[i+n] == steps[i] {
			n++
		}
		text := steps[i]
		if n > 1 {
			text += fmt.Sprintf(" (×%d)", n)
		}
		lines = append(lines, text)
		i += n
	}
	return lines
}

// folded returns a collapsed list of steps with a title. In a reply without a query, each block is a single line and
// the list is HTML, because DiscussionTools, which may post such a reply, indents every line.
func (c *composer) folded(title string, steps []string, answer int) string {
	trace := ""
	if c.r.Trace != "" {
		trace = "[" + c.r.Trace + " " + c.t.Text("trace") + "]"
	} else if c.r.TracePage != "" {
		trace = "[[:" + c.r.TracePage + "|" + c.t.Text("trace") + "]]"
	}
	class := `class="wikitable mw-collapsible mw-collapsed"` + c.tableDirection()
	if c.r.ShownQuery() == "" {
		return "<table " + class + "><tr><th>" + title + "</th></tr><tr><td>" + c.listed(steps, answer) + trace +
			"</td></tr></table>"
	}
	if trace != "" {
		trace = "\n" + trace
	}
	return "{| " + class + "\n! " + title + "\n|-\n|" + c.listed(steps, answer) + trace + "\n|}"
}

// tableDirection returns the direction attribute of a table if the language is written from right to left.
func (c *composer) tableDirection() string {
	if c.t.Direction() == "ltr" {
		return ""
	}
	return fmt.Sprintf(` lang="%s" dir="rtl"`, c.t.Tag())
}

// step returns a step as a sentence, or "" if it is not shown.
func (c *composer) step(s Step) (string, error) {
	var things []string
	shown := s.Things
	if len(shown) > MaxThings+1 {
		shown = shown[:MaxThings]
	}
	for _, e := range shown {
		link, err := entityLink(e.ID, e.Label)
		if err != nil {
			return "", err
		}
		things = append(things, link)
	}
	if len(shown) < len(s.Things) {
		things = append(things, "…")
	}
	query := c.t.Text("a_query")
	if link := c.opens(s.Query, query); s.Query != "" && link != "" {
		query = link
	}
	list, said := strings.Join(things, c.t.Text("comma")), encode(s.Text, maxAsked)
	switch {
	case s.Kind == StepNames && list != "":
		return c.t.Text("step_names", "things", list), nil
	case s.Kind == StepSearch && s.Unused && said != "":
		return c.t.Text("step_search_text", "text", c.t.Text("quoted", "name", said)), nil
	case s.Kind == StepSearch && said != "" && list == "":
		return c.t.Text("step_search_none", "text", c.t.Text("quoted", "name", said)), nil
	case s.Kind == StepSearch && said != "":
		return c.t.Text("step_search", "things", list), nil
	case s.Kind == StepLook && list != "":
		return c.t.Text("step_look", "things", list), nil
	case s.Kind == StepQuery && s.Answer:
		return c.t.Text("step_answer", "step", c.ran(s, query)), nil
	case s.Kind == StepQuery:
		return c.ran(s, query), nil
	case s.Kind == StepOther && said != "":
		return c.t.Text("step_other", "name", said), nil
	}
	return "", nil
}

// ran returns, as a sentence, a step that ran a query.
func (c *composer) ran(s Step, query string) string {
	switch {
	case s.Failed:
		return c.t.Text("step_query_failed", "query", query)
	case s.Ask:
		return c.t.Text("step_query_asked", "query", query)
	case s.Rows == 0:
		return c.t.Text("step_query_none", "query", query)
	}
	return c.t.Text("step_query", "query", query, "count", s.Rows)
}

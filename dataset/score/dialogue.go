package score

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf/equal"
)

// Message is one turn of a dialogue, as in chat protocols. Role is system, user or assistant.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Dialogue is a run of Interactive-KBQA: the model's turns contain "Thought:" and "Action:", the user's turns
// "Observation:".
type Dialogue struct {
	Question string
	Query    string // the gold query, with names instead of IDs
	Answers  []string
	Messages []Message
}

// Turns returns the number of messages, not counting system messages.
func (d *Dialogue) Turns() int { return max(0, len(d.Messages)-1) }

var actionLine = regexp.MustCompile(`(?m)^\s*Action:\s*Done\b`)

// Finished reports whether the model itself ended the dialogue with the Done action.
func (d *Dialogue) Finished() bool {
	for _, m := range slices.Backward(d.Messages) {
		if m.Role == "assistant" {
			return actionLine.MatchString(m.Content)
		}
	}
	return false
}

// KQAPro reports whether the gold query is in KQA Pro's dialect.
func (d *Dialogue) KQAPro() bool { return strings.Contains(d.Query, "<pred:") }

// Gold returns the gold answer in the form in which it is compared: KQA Pro's yes and no, in any notation, are truth
// values.
func (d *Dialogue) Gold() []string {
	if len(d.Answers) == 1 {
		switch strings.ToLower(d.Answers[0]) {
		case "yes", "true":
			return []string{"true"}
		case "no", "false":
			return []string{"false"}
		}
	}
	return d.Answers
}

// Predicted returns the answer that the published evaluation uses: not the observation at Done, but the last
// observation that is a list or a truth value. Node lists (with " | ") and patterns (with ?e) are skipped, and a
// truncated observation is read up to the point of truncation. Datatypes are removed from values; if numbers and words
// are mixed, the numbers are dropped. found is false if there is no such observation.
func (d *Dialogue) Predicted() (values []string, found bool) {
	for _, m := range slices.Backward(d.Messages) {
		_, text, ok := strings.Cut(m.Content, "Observation:")
		if m.Role != "user" || !ok || strings.Contains(text, " | ") || strings.Contains(text, "?e") {
			continue
		}
		text = strings.TrimSpace(text)
		switch text {
		case "True", "true":
			return []string{"true"}, true
		case "False", "false":
			return []string{"false"}, true
		}
		rows, ok := pythonList(text)
		if !ok {
			continue
		}
		if values, ok := d.flatten(rows); ok {
			return values, true
		}
	}
	return nil, false
}

// flatten turns the rows of an observation into values. Rows with several values are an answer only on KQA Pro: if
// there is a single row, its values are the answer; otherwise, rows about fact nodes are dropped, and the answer is the
// alphabetically first value in the rest.
func (d *Dialogue) flatten(rows [][]string) ([]string, bool) {
	var values []string
	tuples := false
	for _, r := range rows {
		tuples = tuples || len(r) != 1
	}
	if tuples && !d.KQAPro() {
		return nil, false
	}
	for _, r := range rows {
		if tuples && len(rows) > 1 && slices.ContainsFunc(r, factNode) {
			continue
		}
		for _, v := range r {
			v, _, _ = strings.Cut(v, "^^")
			values = append(values, strings.Trim(v, `"`))
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if tuples && len(rows) > 1 {
		return values[:min(1, len(values))], true
	}
	isNumber := func(v string) bool { _, ok := equal.Number(v); return ok }
	if words := slices.DeleteFunc(slices.Clone(values), isNumber); len(words) > 0 {
		values = words
	}
	return values, true
}

func factNode(v string) bool { return strings.HasPrefix(v, "_:") || strings.HasPrefix(v, "fact_") }

// pythonList reads a list in Python's notation: strings in either kind of quotes, numbers, True, False, None, and
// tuples of these. A truncated list is read up to its last complete element; ok is false for anything else.
func pythonList(s string) (rows [][]string, ok bool) {
	if !strings.HasPrefix(s, "[") {
		return nil, false
	}
	s = s[1:]
	for {
		s = strings.TrimLeft(s, " \n,")
		switch {
		case s == "" || s[0] == ']':
			return rows, s != "" || len(rows) > 0
		case s[0] == '(':
			var row []string
			rest := s[1:]
			for {
				rest = strings.TrimLeft(rest, " \n,")
				if rest == "" {
					return rows, len(rows) > 0
				}
				if rest[0] == ')' {
					break
				}
				v, after, ok := pythonAtom(rest)
				if !ok {
					return rows, len(rows) > 0
				}
				row, rest = append(row, v), after
			}
			rows, s = append(rows, row), rest[1:]
		default:
			v, after, ok := pythonAtom(s)
			if !ok {
				return rows, len(rows) > 0
			}
			rows, s = append(rows, []string{v}), after
		}
	}
}

// pythonAtom reads a string or a bare word; ok is false if it is truncated.
func pythonAtom(s string) (value, rest string, ok bool) {
	if quote := s[0]; quote == '\'' || quote == '"' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s):
				i++
				if s[i] == 'n' {
					b.WriteByte('\n')
				} else {
					b.WriteByte(s[i])
				}
			case s[i] == quote:
				return b.String(), s[i+1:], true
			default:
				b.WriteByte(s[i])
			}
		}
		return "", "", false
	}
	n := strings.IndexAny(s, ",)] ")
	if n <= 0 {
		return "", "", false
	}
	return s[:n], s[n:], true
}

// namePattern finds names in queries in the three dialects: Freebase's type.object.name, KQA Pro's pred:name, MetaQA's
// name.
var namePattern = regexp.MustCompile(`(?:type\.object\.name|<pred:name>|<name>)\s+"((?:[^"\\]|\\.)*)"`)

func names(s string) []string {
	var out []string
	for _, m := range namePattern.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	return unique(out)
}

// Linking compares the names that the gold query and the model use. It returns precision, recall, F1, and the share of
// gold names that the question mentions, ignoring case (the mention cover rate). The predicted names are the names in
// the model's first turn that has any; on KQA Pro, the names in all its turns.
func (d *Dialogue) Linking() (precision, recall, f1, mentioned float64) {
	gold := names(d.Query)
	var predicted []string
	for _, m := range d.Messages {
		if m.Role != "assistant" {
			continue
		}
		predicted = append(predicted, names(m.Content)...)
		if len(predicted) > 0 && !d.KQAPro() {
			break
		}
	}
	s := Sets(gold, predicted, nil)
	for _, n := range gold {
		if strings.Contains(strings.ToLower(d.Question), strings.ToLower(n)) {
			mentioned += 1 / float64(len(gold))
		}
	}
	return s.Precision, s.Recall, s.F1, mentioned
}

// texts reads one answer or a list of answers: strings, numbers or truth values.
func texts(raw json.RawMessage) (out []string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		if len(raw) == 0 || string(raw) == "null" {
			return nil
		}
		list = []json.RawMessage{raw}
	}
	for _, v := range list {
		out = append(out, idText(v))
	}
	return out
}

// aliases reads ComplexWebQuestions answers with their aliases.
func aliases(raw json.RawMessage) (out []string) {
	var list []struct {
		Answer  *string  `json:"answer"`
		Aliases []string `json:"aliases"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, a := range list {
		if a.Answer != nil {
			out = append(out, *a.Answer)
		}
		out = append(out, a.Aliases...)
	}
	return out
}

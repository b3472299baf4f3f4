package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
)

// turn is a turn of the model, read.
type turn struct {
	thought string
	action  action
	more    bool // it held further actions, which are ignored
}

// unreadable says what is wrong with a turn, by the name of the text that tells the model.
type unreadable struct {
	text string
	data map[string]any
}

func (u *unreadable) Error() string { return fmt.Sprintf("unreadable turn: %s %v", u.text, u.data) }

var (
	// Labels stand at the start of a line, perhaps with list marks, bold marks or a number: "Action:", "**Action 3:**", "- Thought:".
	labelLine = regexp.MustCompile(`(?im)^[ \t>*_\-]*(thought|action|observation)(?:[ \t]*\d+)?[ \t*_]*:[ \t*_]*`)
	// An action written without its label: a tool's name at the start of a line, followed by a bracket.
	bareAction = regexp.MustCompile("(?m)^[ \\t>*_\\-`]*(search_wikidata|get_wikidata_entry|get_property_examples|execute_sparql|stop)[ \\t`]*\\(")
	actionName = regexp.MustCompile("^[`\"'*_\\s]*([A-Za-z_][A-Za-z_0-9]*)[`\"'*_]*")
	noAnswer   = regexp.MustCompile(`(?is)^no[ _-]?answer\b[\s:,.\-–—]*(.*)$`)
	stopStep   = regexp.MustCompile(`(?is)^(?:step[ \t=:#]*([0-9]{1,4})\b.*|#?([0-9]{1,4}))$`) // "step 5", "Step #5: the count", "5"
	iriRef     = regexp.MustCompile("^<[^<>\"{}|^`\\\\\\s]*>")
)

// parseTurn reads "Thought: … Action: name(argument)" as models really write it: with code fences, quotes around the argument, missing brackets, markdown
// around the labels, several actions (the first counts), an invented observation behind it (cut off), or as a JSON object with the keys thought, action and
// argument (also action_name, action_argument, action_input). What cannot be read is an *unreadable with the reason.
func parseTurn(text string) (turn, error) {
	if i := strings.LastIndex(text, "</think>"); i >= 0 { // a reasoning model's notes to itself
		text = text[i+len("</think>"):]
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return turn{}, &unreadable{text: "bad_empty"}
	}
	if t, ok := parseJSONTurn(text); ok {
		return t, checkAction(&t.action)
	}
	thought, body, more, ok := splitTurn(text)
	if !ok {
		return turn{}, &unreadable{text: "bad_no_action"}
	}
	a, rest, err := parseAction(body)
	if err != nil {
		return turn{}, err
	}
	t := turn{thought: thought, action: a, more: more || bareAction.MatchString(rest)}
	return t, checkAction(&t.action)
}

// splitTurn cuts a turn into its thought and the text of its first action. What stands behind the next label is left out: a second action, or an
// observation that the model made up.
func splitTurn(text string) (thought, body string, more, ok bool) {
	start, end := -1, len(text)
	for _, m := range labelLine.FindAllStringSubmatchIndex(text, -1) {
		isAction := strings.EqualFold(text[m[2]:m[3]], "action")
		switch {
		case start >= 0:
			end = min(end, m[0])
			more = more || isAction
		case isAction:
			thought, start = text[:m[0]], m[1]
		}
	}
	if start >= 0 {
		return cleanThought(thought), text[start:end], more, true
	}
	if m := bareAction.FindStringSubmatchIndex(text); m != nil {
		return cleanThought(text[:m[0]]), text[m[2]:], false, true
	}
	return "", "", false, false
}

func cleanThought(s string) string {
	s = labelLine.ReplaceAllString(s, "")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "```"))
}

// parseAction reads name(argument). rest is what stands behind it.
func parseAction(body string) (a action, rest string, err error) {
	body = openFence(body)
	m := actionName.FindStringSubmatchIndex(body)
	if m == nil {
		return a, "", &unreadable{text: "bad_no_action"}
	}
	a.name = strings.ToLower(body[m[2]:m[3]])
	if !slices.Contains(actionNames, a.name) {
		return a, "", &unreadable{text: "bad_name", data: map[string]any{"Name": render.Clip(a.name, 60)}}
	}
	a.argument, rest = parseArgument(strings.TrimLeft(body[m[1]:], " \t"), a.name == actExecute)
	return a, rest, nil
}

var actionNames = []string{actSearch, actEntry, actExamples, actExecute, actStop}

// parseArgument reads the argument that starts s: in brackets, in a fence, or bare.
func parseArgument(s string, query bool) (argument, rest string) {
	if !strings.HasPrefix(s, "(") {
		s = strings.TrimLeft(s, ": \t\n")
		if !query { // bare: the first line
			s, rest, _ = strings.Cut(s, "\n")
		}
		return unquote(closeFence(s)), rest
	}
	inner := s[1:]
	if end := closing(inner, query); end >= 0 {
		return unquote(inner[:end]), inner[end+1:]
	}
	inner = closeFence(inner) // the closing bracket is missing
	if !query {
		inner, rest, _ = strings.Cut(strings.TrimSpace(inner), "\n")
	}
	return unquote(strings.TrimSuffix(strings.TrimSpace(inner), ")")), rest
}

// closing returns the offset of the bracket that closes the argument, or -1. In a query, brackets in strings, IRIs and comments do not count; in another
// argument that starts with a quotation mark, those before the closing mark do not.
func closing(s string, query bool) int {
	if !query {
		if end := quotedEnd(s); end >= 0 {
			return end
		}
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')':
			if depth == 0 {
				return i
			}
			depth--
		case !query && c == '\n' && depth == 0 && strings.TrimSpace(s[:i]) != "":
			return -1
		case !query:
		case c == '#':
			if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n
			} else {
				return lastBracket(s)
			}
		case c == '<':
			if iri := iriRef.FindString(s[i:]); iri != "" {
				i += len(iri) - 1
			}
		case c == '"' || c == '\'':
			if i = skipString(s, i); i < 0 {
				return lastBracket(s)
			}
		}
	}
	if query {
		return lastBracket(s)
	}
	return -1
}

// lastBracket is the fallback for a query whose brackets do not match: the last one, when nothing but a fence stands behind it.
func lastBracket(s string) int {
	i := strings.LastIndexByte(s, ')')
	if i >= 0 && strings.Trim(s[i+1:], " \t\n`.;") == "" {
		return i
	}
	return -1
}

// quotedEnd returns the offset of the bracket behind a quoted argument, or -1 when s does not start with one.
func quotedEnd(s string) int {
	t := strings.TrimLeft(s, " \t\n")
	for _, q := range []string{`"""`, "'''", `"`, "'", "“", "`"} {
		if !strings.HasPrefix(t, q) {
			continue
		}
		end := q
		if q == "“" {
			end = "”"
		}
		from := len(s) - len(t) + len(q)
		for i := from; i < len(s); {
			n := strings.Index(s[i:], end)
			if n < 0 {
				return -1
			}
			i += n + len(end)
			if after := strings.TrimLeft(s[i:], " \t\n"); strings.HasPrefix(after, ")") {
				return len(s) - len(after)
			}
		}
	}
	return -1
}

// skipString returns the offset of the last byte of the SPARQL string that starts at i, or -1 when it never ends.
func skipString(s string, i int) int {
	q := s[i : i+1]
	if long := strings.Repeat(q, 3); strings.HasPrefix(s[i:], long) {
		if n := strings.Index(s[i+3:], long); n >= 0 {
			return i + 3 + n + 2
		}
		return -1
	}
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '\n':
			return -1
		case q[0]:
			return j
		}
	}
	return -1
}

// unquote strips fences, quotation marks of any kind around the whole, and space.
func unquote(s string) string {
	for range 6 { // so many layers at most
		t := strings.TrimSpace(s)
		t = strings.TrimSpace(closeFence(openFence(t)))
		for _, q := range [][2]string{{`"""`, `"""`}, {"'''", "'''"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"`", "`"}} {
			if len(t) >= len(q[0])+len(q[1]) && strings.HasPrefix(t, q[0]) && strings.HasSuffix(t, q[1]) {
				t = t[len(q[0]) : len(t)-len(q[1])]
				break
			}
		}
		if t == s {
			break
		}
		s = t
	}
	return s
}

// openFence drops a code fence's opening line ("```sparql") at the start.
func openFence(s string) string {
	t := strings.TrimLeft(s, " \t\n")
	if !strings.HasPrefix(t, "```") {
		return s
	}
	t = t[3:]
	for _, lang := range []string{"sparql", "sql", "text", "json", "plaintext"} {
		if len(t) > len(lang) && strings.EqualFold(t[:len(lang)], lang) && (t[len(lang)] == '\n' || t[len(lang)] == ' ') {
			t = t[len(lang):]
			break
		}
	}
	return strings.TrimLeft(t, "\n")
}

// closeFence cuts at a closing code fence.
func closeFence(s string) string {
	if i := strings.Index(s, "```"); i >= 0 && strings.TrimSpace(s[:i]) != "" {
		return s[:i]
	}
	return s
}

// parseJSONTurn reads a turn written as one JSON object.
func parseJSONTurn(text string) (turn, bool) {
	t := strings.TrimSpace(closeFence(openFence(text)))
	if !strings.HasPrefix(t, "{") {
		return turn{}, false
	}
	var m map[string]any
	if json.Unmarshal([]byte(t), &m) != nil {
		return turn{}, false
	}
	get := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := m[k].(string); ok {
				return s
			}
		}
		return ""
	}
	a := action{name: strings.ToLower(get("action_name", "action", "name", "tool")), argument: get("action_argument", "argument", "action_input", "input")}
	if name, _, found := strings.Cut(a.name, "("); found && a.argument == "" {
		full := get("action_name", "action", "name", "tool")
		a.argument, _ = parseArgument(full[len(name):], name == actExecute)
		a.name = name
	}
	return turn{thought: strings.TrimSpace(get("thought")), action: a}, a.name != ""
}

// sayingNoAnswer begins the argument of a stop(no answer: why).
const sayingNoAnswer = "no answer: "

// checkAction completes an action and says what is missing.
func checkAction(a *action) error {
	a.name, a.argument = strings.TrimSpace(a.name), strings.TrimSpace(a.argument)
	switch {
	case !slices.Contains(actionNames, a.name):
		return &unreadable{text: "bad_name", data: map[string]any{"Name": render.Clip(a.name, 60)}}
	case a.name == actStop:
		if m := noAnswer.FindStringSubmatch(a.argument); m != nil {
			a.noAnswer, a.argument = true, sayingNoAnswer+strings.TrimSpace(unquote(m[1]))
		} else if m := stopStep.FindStringSubmatch(a.argument); m != nil {
			a.step, _ = strconv.Atoi(m[1] + m[2])
			a.argument, a.atStep = fmt.Sprintf("step %d", a.step), true
		} else {
			a.argument = ""
		}
	case a.argument == "":
		return &unreadable{text: "bad_argument", data: map[string]any{"Name": a.name}}
	}
	return nil
}

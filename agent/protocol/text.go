package protocol

import (
	"encoding/json"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Text is the protocol used in the SPINACH paper: the model writes a thought and a single action as text.
type Text struct {
	words
	listed *listing // tools to add to the system message; nil if it already explains them
}

// listing generates the part of the system message that explains tools designed for native calls.
type listing struct {
	tools tool.Set
	show  tool.Show
}

func (p Text) system(s string) string {
	if p.listed == nil {
		return s
	}
	type described struct{ Name, Text, Schema string }
	var all []described
	for _, t := range p.listed.tools {
		all = append(all, described{t.Name, t.Describe(p.listed.show), string(t.Parameters(false, p.listed.show.Graphs))})
	}
	return s + "\n\n" + p.say("without_tools", all)
}

// Prepare adds nothing, since the tools are described in the system message.
func (Text) Prepare(*llm.Request, tool.Set, tool.Show) {}

// Messages returns, for each step, the model's turn followed by its observation.
func (p Text) Messages(c Conversation) []llm.Message {
	ms := []llm.Message{{Role: llm.System, Content: p.system(c.System)},
		{Role: llm.User, Content: p.say("first", map[string]any{"Question": c.Question, "Notes": c.Notes, "Next": 1})}}
	next := 1
	for _, x := range c.Steps {
		if x.Bad != nil {
			ms = append(ms, p.badTurn(x.Bad, x.Notes, next)...)
			continue
		}
		next++
		ms = append(ms, llm.Message{Role: llm.Assistant, Content: p.say("turn", x)},
			llm.Message{Role: llm.User, Content: p.say("observation", map[string]any{"Observation": x.Observation,
				"Notes": x.Notes, "Next": next})})
	}
	if c.Bad != nil {
		ms = append(ms, p.badTurn(c.Bad, c.BadNotes, next)...)
	}
	return ms
}

// badTurn returns the message that could not be read and the response to it.
func (p Text) badTurn(bad *llm.Choice, notes []string, next int) []llm.Message {
	content := bad.Content
	if content == "" {
		content = "(nothing)"
	}
	return []llm.Message{{Role: llm.Assistant, Content: render.Guard(render.Clip(content, maxBad))},
		{Role: llm.User, Content: p.say("again", map[string]any{"Notes": notes, "Next": next})}}
}

// Read parses a turn in any of the forms that models actually write; see [textReader.parse].
func (x Text) Read(ch llm.Choice, tools tool.Set) (Turn, *Problem) {
	r := newTextReader(tools, x.words)
	t, p := r.parse(ch.Content)
	cut := ch.FinishReason == finishLength
	if p == nil && cut && t.Calls[0].Tool.Query && !t.More { // an incomplete query
		p = x.problem(Cut, nil)
	}
	if p != nil && cut {
		p = x.problem(Cut, nil)
	}
	return t, p
}

// Labels are at the start of a line, sometimes with list markers, bold markup or a number: "Action:", "**Action 3:**",
// "- Thought:".
const label = `^[ \t>*_\-]*(thought|action|observation)(?:[ \t]*\d+)?[ \t*_]*:[ \t*_]*`

var (
	labelLine  = regexp.MustCompile(`(?im)` + label)
	firstLabel = regexp.MustCompile(`(?i)` + label) // only at the start of the text
	actionName = regexp.MustCompile("^[`\"'*_\\s]*([A-Za-z_][A-Za-z_0-9]*)[`\"'*_]*")
	iriRef     = regexp.MustCompile("^<[^<>\"{}|^`\\\\\\s]*>")
)

// labels yields the indexes of the matches of labelLine in a text. It examines only the start of each line, because
// searching a whole megabyte takes a tenth of a second.
func labels(text string) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		at := 0
		for line := range strings.Lines(text) {
			m := firstLabel.FindStringSubmatchIndex(line)
			for i := range m {
				m[i] += at
			}
			if m != nil && !yield(m) {
				return
			}
			at += len(line)
		}
	}
}

// textReader parses turns written as text.
type textReader struct {
	words
	tools tool.Set
	// an action without a label: a tool's name at the start of a line, followed by a parenthesis
	bare func() *regexp.Regexp
}

func newTextReader(tools tool.Set, w words) *textReader {
	return &textReader{w, tools, sync.OnceValue(func() *regexp.Regexp { // slow to compile and rarely needed
		return regexp.MustCompile("(?m)^[ \\t>*_\\-`]*(" + strings.Join(tools.Names(), "|") + ")[ \\t`]*\\(")
	})}
}

// parse parses "Thought: … Action: name(argument)" in the forms that models actually write: with code fences, quotes
// around the argument, missing parentheses or Markdown around the labels. If there are several actions, the first one
// is used, and an observation that the model invented after it is dropped. parse also accepts a JSON object with the
// keys thought, action and argument (or action_name, action_argument, action_input).
func (r *textReader) parse(text string) (Turn, *Problem) {
	if i := strings.LastIndex(text, "</think>"); i >= 0 { // a reasoning model's chain of thought
		text = text[i+len("</think>"):]
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return Turn{}, r.problem(Empty, nil)
	}
	if w, ok := parseJSONTurn(text); ok {
		return r.turn(w)
	}
	thought, body, more, ok := r.split(text)
	if !ok {
		return Turn{}, r.noAction()
	}
	w, rest, p := r.action(body)
	if p != nil {
		return Turn{}, p
	}
	w.thought, w.more = thought, more || strings.Contains(rest, "(") && r.bare().MatchString(rest)
	return r.turn(w)
}

func (r *textReader) noAction() *Problem {
	return r.problem(NoAction, nudge(r.tools))
}

// written is a turn written as text, split into its parts.
type written struct {
	thought, name, argument string
	more                    bool // there are further actions
}

// turn returns the complete turn, or a Problem that describes what is missing.
func (r *textReader) turn(w written) (Turn, *Problem) {
	name, argument := strings.TrimSpace(w.name), strings.TrimSpace(w.argument)
	t := r.tools.Find(name)
	switch {
	case t == nil:
		return Turn{}, r.unknownTool(name, r.tools)
	case argument == "" && !t.Ends() && t.Input != "":
		return Turn{}, r.problem(NoArgument, map[string]any{"Name": name})
	}
	args := t.Arguments(argument)
	if err := t.Check(args); err != nil {
		return Turn{}, r.problem(BadJSON, map[string]any{"Name": t.Name, "Why": render.Clip(err.Error(), 300)})
	}
	return Turn{Thought: w.thought, Calls: []Call{{Tool: t, Args: args, Shown: t.Shown(args)}}, More: w.more}, nil
}

// split splits a turn into its thought and the text of its first action. It drops everything after the next label: a
// second action or an invented observation.
func (r *textReader) split(text string) (thought, body string, more, ok bool) {
	start, end := -1, len(text)
	for m := range labels(text) {
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
	if m := r.bare().FindStringSubmatchIndex(text); m != nil {
		return cleanThought(text[:m[0]]), text[m[2]:], false, true
	}
	return "", "", false, false
}

func cleanThought(s string) string {
	s = labelLine.ReplaceAllString(s, "")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "```"))
}

// action parses name(argument). rest is the text that follows it.
func (r *textReader) action(body string) (w written, rest string, p *Problem) {
	body = render.OpenFence(body)
	m := actionName.FindStringSubmatchIndex(body)
	if m == nil {
		return w, "", r.noAction()
	}
	w.name = strings.ToLower(body[m[2]:m[3]])
	t := r.tools.Find(w.name)
	if t == nil {
		return w, "", r.unknownTool(w.name, r.tools)
	}
	after := strings.TrimLeft(body[m[1]:], " \t")
	if object, rest, ok := jsonArgument(after); ok && t.Check(json.RawMessage(object)) == nil {
		w.argument = object
		return w, rest, nil
	}
	if t.Raw {
		w.argument, rest = rawArgument(after)
		return w, rest, nil
	}
	w.argument, rest = parseArgument(after, t.Query)
	return w, rest, nil
}

// jsonArgument parses a JSON object, with or without parentheses.
func jsonArgument(s string) (object, rest string, ok bool) {
	s = strings.TrimLeft(s, "( \t\n`")
	if !strings.HasPrefix(s, "{") {
		return "", "", false
	}
	var raw json.RawMessage
	dec := json.NewDecoder(strings.NewReader(s))
	if dec.Decode(&raw) != nil {
		return "", "", false
	}
	return string(raw), strings.TrimLeft(s[dec.InputOffset():], ") \t`"), true
}

// rawArgument returns everything between the first parenthesis and the last.
func rawArgument(s string) (argument, rest string) {
	s, open := strings.CutPrefix(s, "(")
	if i := strings.LastIndexByte(s, ')'); open && i >= 0 {
		return s[:i], s[i+1:]
	}
	return strings.TrimSpace(render.CloseFence(s)), ""
}

// parseArgument parses the argument at the start of s: in parentheses, in a code fence, or bare.
func parseArgument(s string, query bool) (argument, rest string) {
	if !strings.HasPrefix(s, "(") {
		s = strings.TrimLeft(s, ": \t\n")
		if !query { // without parentheses or fence, the argument is the first line
			s, rest, _ = strings.Cut(s, "\n")
		}
		return render.Unquote(render.CloseFence(s)), rest
	}
	inner := s[1:]
	if end := closing(inner, query); end >= 0 {
		return render.Unquote(inner[:end]), inner[end+1:]
	}
	inner = render.CloseFence(inner) // the closing parenthesis is missing
	if !query {
		inner, rest, _ = strings.Cut(strings.TrimSpace(inner), "\n")
	}
	return render.Unquote(strings.TrimSuffix(strings.TrimSpace(inner), ")")), rest
}

// closing returns the offset of the parenthesis that closes the argument, or -1. In a query, it ignores parentheses in
// strings, IRIs and comments. In any other argument that starts with a quotation mark, it ignores parentheses before
// the closing mark.
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
				return lastParen(s)
			}
		case c == '<':
			if iri := iriRef.FindString(s[i:]); iri != "" {
				i += len(iri) - 1
			}
		case c == '"' || c == '\'':
			if i = skipString(s, i); i < 0 {
				return lastParen(s)
			}
		}
	}
	if query {
		return lastParen(s)
	}
	return -1
}

// lastParen is the fallback for a query with unbalanced parentheses. It returns the offset of the last closing
// parenthesis if only a code fence follows it.
func lastParen(s string) int {
	i := strings.LastIndexByte(s, ')')
	if i >= 0 && strings.Trim(s[i+1:], " \t\n`.;") == "" {
		return i
	}
	return -1
}

// quotedEnd returns the offset of the parenthesis after a quoted argument, or -1 if s does not start with one.
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

// skipString returns the offset of the last byte of the SPARQL string that starts at i, or -1 if the string does not
// end.
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

// parseJSONTurn parses a turn written as a single JSON object.
func parseJSONTurn(text string) (w written, ok bool) {
	t := strings.TrimSpace(render.CloseFence(render.OpenFence(text)))
	if !strings.HasPrefix(t, "{") {
		return w, false
	}
	var m map[string]any
	if json.Unmarshal([]byte(t), &m) != nil {
		return w, false
	}
	get := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := m[k].(string); ok {
				return s
			}
		}
		return ""
	}
	full := get("action_name", "action", "name", "tool")
	w = written{thought: strings.TrimSpace(get("thought")), name: strings.ToLower(full),
		argument: get("action_argument", "argument", "action_input", "input")}
	if name, _, found := strings.Cut(w.name, "("); found && w.argument == "" {
		w.argument, _ = parseArgument(full[len(name):], name == tool.ExecuteName)
		w.name = name
	}
	return w, w.name != ""
}

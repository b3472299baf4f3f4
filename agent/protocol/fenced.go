package protocol

import (
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Fenced is the protocol for models that can write only text, which SPARQL-LLM also uses. The model writes a query in a
// fenced block; the query is run, and its result is the next message to the model. The results of lookups before the
// model's first turn are part of the first message.
type Fenced struct{ words }

// Prepare adds nothing, since the model does not call tools.
func (Fenced) Prepare(*llm.Request, tool.Set, tool.Show) {}

// Messages returns, for each query, the model's message followed by the query's result.
func (p Fenced) Messages(c Conversation) []llm.Message {
	var given []Exchange
	steps := c.Steps
	for len(steps) > 0 && steps[0].Given {
		given, steps = append(given, steps[0]), steps[1:]
	}
	ms := []llm.Message{{Role: llm.System, Content: c.System},
		{Role: llm.User, Content: strings.TrimSpace(p.say("fenced_first",
			map[string]any{"Question": c.Question, "Given": given, "Notes": c.Notes}))}}
	for _, x := range steps {
		ms = append(ms, llm.Message{Role: llm.Assistant, Content: p.say("fenced_turn", x)},
			llm.Message{Role: llm.User, Content: strings.TrimSpace(p.say("fenced_observation", x))})
	}
	if c.Bad != nil {
		ms = append(ms, llm.Message{Role: llm.Assistant, Content: render.Guard(render.Clip(c.Bad.Content, maxBad))},
			llm.Message{Role: llm.User, Content: strings.Join(c.BadNotes, "\n")})
	}
	return ms
}

var (
	fencedBlock  = regexp.MustCompile("(?is)```[ \\t]*sparql[^\\n]*\\n(.*?)```")
	anyBlock     = regexp.MustCompile("(?is)```[ \\t]*\\n(.*?)```")
	endpointLine = regexp.MustCompile(`(?im)^[ \t]*#\+?[ \t]*endpoint:[ \t]*<?([^\s<>]*)>?[ \t]*\r?\n?`)
)

// Read extracts the last fenced query. The URL in its endpoint line, if any, selects the graph. The text around the
// block is the model's thought.
func (p Fenced) Read(ch llm.Choice, tools tool.Set) (Turn, *Problem) {
	text := ch.Content
	if i := strings.LastIndex(text, "</think>"); i >= 0 { // a reasoning model's chain of thought
		text = text[i+len("</think>"):]
	}
	t := Turn{Reasoning: ch.Reasoning}
	blocks := fencedBlock.FindAllStringSubmatchIndex(text, -1)
	if blocks == nil {
		blocks = anyBlock.FindAllStringSubmatchIndex(text, -1)
	}
	switch {
	case len(blocks) == 0 && ch.FinishReason == finishLength:
		return t, p.problem(Cut, nil)
	case len(blocks) == 0 && strings.TrimSpace(text) == "":
		return t, &Problem{Empty, p.say("fenced_none", nil)}
	case len(blocks) == 0:
		return t, &Problem{NoAction, p.say("fenced_none", nil)}
	}
	last := blocks[len(blocks)-1]
	t.Thought = strings.TrimSpace(render.Fold(text[:last[0]] + " " + text[last[1]:]))
	args := tool.GeneratedArgs{Query: text[last[2]:last[3]]}
	if m := endpointLine.FindStringSubmatch(args.Query); m != nil {
		args.Query = endpointLine.ReplaceAllString(args.Query, "")
		args.Endpoint = &m[1]
	}
	if args.Query = strings.TrimSpace(args.Query); args.Query == "" {
		return t, &Problem{NoArgument, p.say("fenced_none", nil)}
	}
	for _, runs := range tools {
		if runs.Final {
			raw, err := render.JSON(args)
			if err != nil {
				return t, &Problem{BadJSON, p.say("fenced_none", nil)}
			}
			if err := runs.Check(raw); err != nil {
				return t, p.problem(BadJSON, map[string]any{"Name": runs.Name, "Why": render.Clip(err.Error(), 300)})
			}
			t.Calls = []Call{{Tool: runs, Args: raw, Shown: runs.Shown(raw)}}
			return t, nil
		}
	}
	return t, p.unknownTool(tool.GeneratedName, tools) // cannot happen: preset validation prevents it
}

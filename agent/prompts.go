package agent

import (
	"embed"
	"path"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Every word that a model reads stands in prompts/: tasks (*.tmpl, one a task), the tools' texts (tool_*.md, beside tool_*.go), what is said about a turn
// (notes.tmpl) and what an action showed (observations.tmpl). Numbers in them are injected from the constants of the code.
//
// The wire conventions, on which the scripted model of internal/llm depends:
//
//   - the system message's first line is [task: NAME], with NAME one of act, triage, language, prune, extract, report;
//   - the current question stands between <question> and </question>, each earlier turn between <earlier> and </earlier>, each post of a thread in
//     <post author="…">…</post> (the last is the one to judge), the page to prune in <entity id="Q183" label="…">…</entity>; in these blocks &, < and > are
//     escaped as &amp;, &lt; and &gt;;
//   - an observation stands between <observation> and </observation>; only what looks like one of our tags is escaped in it, since queries and
//     error messages need their angle brackets;
//   - the last user message of act ends with the line "Now write step N.", N being the number of steps in the state plus one.
//
//go:embed prompts
var promptFiles embed.FS

// prompts holds the parsed templates; it never changes.
var prompts = render.MustTexts(promptFiles, "prompts/*.tmpl", "prompts/*.md")

func say(name string, data any) string { return prompts.Say(name, data) }

// preset names a published system whose behaviour the engine follows, with its numbers.
type preset struct {
	name              string
	items, properties int           // hits a language of a search
	rows              render.Window // rows of a result that are shown
	temperature, topP float64
	maxExamples       int
}

// spinachPreset holds the figures of the SPINACH paper: 8 items and 4 properties, first and last 5 rows of more than 10, sampling at temperature 1.0 with
// top_p 0.9 (sections 4.1 and 4.2, appendix D).
var spinachPreset = preset{name: "spinach", items: 8, properties: 4, rows: render.Window{Whole: 10, Head: 5, Tail: 5}, temperature: 1.0, topP: 0.9, maxExamples: 20}

// system returns the system message of a task.
func system(task string, data any) llm.Message {
	return llm.Message{Role: llm.System, Content: say(task+".tmpl", data)}
}

// toolTexts renders the tools' texts with the preset's numbers, in the order in which the model reads them.
func (p preset) toolTexts() []string {
	data := map[string]any{"Items": p.items, "Properties": p.properties, "Shown": p.rows.Whole, "Head": p.rows.Head, "Tail": p.rows.Tail}
	var out []string
	for _, name := range []string{"search", "entry", "examples", "sparql", "stop"} {
		out = append(out, say(path.Base("tool_"+name+".md"), data))
	}
	return out
}

// asked is what every prompt knows of the question.
type asked struct {
	Question string
	Language string // English name of the asker's language, "" when unknown
	Earlier  []Turn
}

// actMessages builds the conversation for the next action: the system message, the question with its earlier turns, and every step of the state as a turn of the
// model with its observation. What was said about refused, unreadable or abandoned turns comes where it belongs. actions is how many were asked for so far.
func actMessages(p preset, l Limits, actions int, q asked, s *state) []llm.Message {
	most, spare := left(l, len(s.steps), actions)
	counter := say("counter", map[string]any{"Next": len(s.steps) + 1, "Most": most, "Spare": spare})
	notes := func(after int) []string {
		var out []string
		for _, n := range s.notes {
			if n.after == after {
				out = append(out, n.text)
			}
		}
		if after == len(s.steps) {
			if s.badTurn == "" && s.fleeting != "" {
				out = append(out, s.fleeting)
			}
			if s.badTurn == "" {
				out = append(append(out, hurry(most-after)...), counter)
			}
		}
		return out
	}
	ms := []llm.Message{
		system("act", map[string]any{"Tools": p.toolTexts(), "Counted": l.Counted}),
		{Role: llm.User, Content: say("act_first", map[string]any{"Question": q.Question, "Language": q.Language, "Earlier": q.Earlier, "Notes": notes(0)})},
	}
	for i, k := range s.steps {
		ms = append(ms, llm.Message{Role: llm.Assistant, Content: say("act_turn", k.Step)},
			llm.Message{Role: llm.User, Content: say("act_observation",
				map[string]any{"Observation": k.Observation, "Notes": append(append([]string(nil), k.notes...), notes(i+1)...), "Next": i + 2})})
	}
	if s.badTurn != "" {
		ms = append(ms, llm.Message{Role: llm.Assistant, Content: render.Guard(render.Clip(s.badTurn, 3000))},
			llm.Message{Role: llm.User, Content: say("act_again", map[string]any{"Note": s.fleeting, "Counter": counter, "Next": len(s.steps) + 1})})
	}
	return ms
}

// hurry is what is said when few steps are left.
func hurry(left int) []string {
	switch left {
	case 1:
		return []string{say("last_left", nil)}
	case 2, 3:
		return []string{say("few_left", left)}
	}
	return nil
}

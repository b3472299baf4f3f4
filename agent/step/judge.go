package step

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Judging contains the parameters for scoring a state.
type Judging struct {
	Samples     int     // number of judgments, which are averaged
	Temperature float64 // temperature of the samples
	Prompt      string  // see [Runner.JudgePrompt]
}

// JudgePrompt returns the judge's instructions, which are the same for all states of a question. A direct judge, the
// baseline in the paper, gets neither rules nor examples.
func (r *Runner) JudgePrompt(direct bool) string {
	name := "judge.tmpl"
	if direct {
		name = "judge_direct.tmpl"
	}
	var tools []string
	for _, t := range r.Preset.Toolset() {
		text := t.Describe(r.Preset.Show)
		if !strings.HasPrefix(text, t.Name+"(") { // with native calls, the description does not include the name
			text = t.Name + ": " + text
		}
		tools = append(tools, text)
	}
	return r.Preset.Say(name, map[string]any{"Tools": tools})
}

// Score is a judge's score for a state.
type Score struct {
	Value  float64   // the mean of Values, 0 to 1; 0 if Values is empty
	Values []float64 // values of the judgments that could be read
	Why    string    // the text of the first judgment, or the reason why there is none
}

// maxJudgment is the maximum number of tokens in a judgment.
const maxJudgment = 700

// maxWhy is the maximum number of characters of a judgment stored with the score in the log. The model event contains
// the complete judgment.
const maxWhy = 500

// Judge asks a judge to score how much of the requested information the steps of c have found (MCTS-KBQA, section 3.3
// and appendix A.5). The events are added below the event with ID at, which belongs to c's last step. If a judgment is
// unreadable, the judge is asked once more, and then the judgment is dropped. If no judgment can be read, the score is
// 0. If a call for a judgment fails but the service still works, the judgment is treated as unreadable. An error ends
// the run, as with [Runner.Expand].
func (r *Runner) Judge(ctx context.Context, c Child, at int, how Judging) (Score, error) {
	b := r.Events.Branch(at)
	facts := r.Facts(c.State)
	data := map[string]any{"Question": r.Question.Text, "Earlier": r.questionsBefore(), "Language": r.Language.Name,
		"Steps": c.State.Steps(), "Ended": c.Outcome == Ended}
	if c.Outcome == Ended && c.Final.Answer != nil {
		a := c.Final.Answer
		facts.Queries = []string{a.Ran}
		data["SPARQL"], data["Result"] = a.SPARQL, r.Preset.Show.Rows.Table(a.Table, a.Names())
	}
	messages := []llm.Message{{Role: llm.System, Content: how.Prompt},
		{Role: llm.User, Content: r.Preset.Say("judge_user", data)}}
	var s Score
	for want, try := how.Samples, 0; want > 0 && try < 2; try++ {
		req := llm.Request{Purpose: llm.Judge, Part: strconv.Itoa(c.State.Len()), MaxTokens: maxJudgment,
			Temperature: how.Temperature, Facts: facts}
		if want > 1 {
			req.N = want
		}
		resp, err := r.complete(ctx, b, req, func(bool) []llm.Message { return messages })
		var h *event.Halt
		if errors.As(err, &h) && h.Reason == event.ModelFailed && !unreachable(err) {
			s.Why = "the judge failed: " + h.Detail
			break
		}
		if err != nil {
			return s, err
		}
		for _, ch := range resp.Choices[:min(want, len(resp.Choices))] {
			v, ok := readScore(ch.Content)
			if !ok {
				continue
			}
			if s.Values = append(s.Values, v); len(s.Values) == 1 {
				s.Why = ch.Content
			}
			want--
		}
	}
	for _, v := range s.Values {
		s.Value += v / float64(len(s.Values))
	}
	s.Value = min(1, s.Value)
	if s.Why == "" {
		s.Why = "no judgment could be read"
	}
	return s, nil
}

// Scored logs a score, determined by a judge, a rule or chance, for the state whose last step is the event with ID at.
func (r *Runner) Scored(ctx context.Context, at int, s Score) error {
	return r.Events.Branch(at).Record(ctx, event.Event{Event: "score", Value: &s.Value, Values: s.Values,
		Detail: clipWhy(s.Why)})
}

var (
	points = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*(?:/|of|out of)\s*([0-9]+(?:\.[0-9]+)?)`)
	number = regexp.MustCompile(`-?[0-9]+(?:\.[0-9]+)?`)
)

// marks are the characters that models put around a label or a number.
const marks = " \t*_#>`-"

// lastLine returns the text after the label in the last line that starts with the label, without marks: "3 of 5" for
// "**Points:** 3 of 5".
func lastLine(text, label string) (says string, ok bool) {
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, ":")
		if found && strings.EqualFold(strings.Trim(before, marks), label) {
			says, ok = strings.TrimLeft(strings.TrimSpace(after), " \t*_`"), true
		}
	}
	return says, ok
}

// readScore converts a judgment to a number from 0 to 1. It uses the last line of the form "Points: 3 of 5" or, if
// there is none, the last line of the form "Score: 60". The latter may end with "/100" or "%", and a calculation may
// precede the score. A score of 0 takes precedence over points, since it means that the last step earned no reward. ok
// is false if the text has neither line, or if the number is out of range.
func readScore(text string) (v float64, ok bool) {
	score, scored := lastLine(text, "score")
	if i := strings.LastIndex(score, "="); i >= 0 {
		score = score[i+1:]
	}
	figure := number.FindString(score)
	if line, said := lastLine(text, "points"); said && (!scored || figure == "" || float(figure) != 0) {
		if m := points.FindStringSubmatch(line); m != nil {
			if got, of := float(m[1]), float(m[2]); of > 0 && got >= 0 && got <= of {
				return got / of, true
			}
		}
	}
	if figure == "" {
		return 0, false
	}
	v = float(figure) / 100
	return v, v >= 0 && v <= 1
}

func float(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return -1 // the text is all digits, so the number is out of range
	}
	return f
}

func clipWhy(s string) string { return render.Clip(strings.TrimSpace(render.Clean(s)), maxWhy) }

// Package review lets a user decide on a model's turns, at a terminal or with input from a file. It implements
// [policy.Reviewer] for the command line.
//
//	review.go   one decision: what is shown and what the user is asked
//	mark.go     marking IDs in text
//	gold.go     the benchmark's answer to the question
//	summary.go  how much effort a review took
package review

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Terminal asks the user to decide on turns. It is not safe for concurrent use.
type Terminal struct {
	Screen *console.Screen
	In     *bufio.Reader
	By     string // who decides
	Gold   Gold
	// Edit opens text in the user's editor and returns the edited text; below is read-only. If Edit is nil, there is no
	// editor, and the user types the new text.
	Edit func(ctx context.Context, text, below string) (string, error)
	// Forget drops input that was typed but not read yet, so that a decision is made only after the turn has been shown.
	// If Forget is nil, all input counts, as when it comes from a file.
	Forget func()

	question string
	asked    bool         // whether the user was asked earlier in this session
	shown    int          // number of steps shown so far
	look     policy.Look  // the last turn that was shown
	lines    chan outcome // receives the line of a read that Ctrl-C interrupted
}

// outcome is a typed line, or the error that kept it from being read.
type outcome struct {
	text string
	err  error
}

const help = `  Enter, a, accept   carry it out as it is
  e, edit            change thought and action, then carry that out
  s, skip [reason]   give up on the question
  b, back [step]     decide on an earlier step again (the last one, if no number is given)
  g, gold            show the query and answer that are known to be correct
  q, quit            stop for now; the review can be continued
  Thought: …, Action: …   typed instead: the turn as it should be, ending with an empty line`

// Review implements [policy.Reviewer].
func (t *Terminal) Review(ctx context.Context, l policy.Look) (policy.Decision, error) {
	t.Screen.Progress("")
	t.look = l
	t.steps(l)
	t.turn(l)
	if t.Forget != nil && t.lines == nil {
		t.Forget()
		_, _ = t.In.Discard(t.In.Buffered())
	}
	for {
		d, done, err := t.ask(ctx, l)
		if err != nil {
			return d, err
		}
		if done {
			d.By = t.By
			switch d.Verdict {
			case event.Edited:
				t.write(l, "as changed:\n"+d.Text, "")
				fallthrough
			case event.Accepted:
				t.Screen.Progress(fmt.Sprintf("step %d is carried out…", l.Place))
			}
			return d, nil
		}
	}
}

// Carried implements [policy.Watcher], so that an observation is on the screen before the model is asked again.
func (t *Terminal) Carried(steps []event.Step, told string) {
	t.Screen.Progress("")
	t.steps(policy.Look{Steps: steps, Mentions: t.look.Mentions})
	if told != "" {
		t.say(console.Yellow, "the model is told: "+text.OneLine(text.Clean(told)))
	}
	t.Screen.Progress(writing)
}

// writing is the text shown while the model is working.
const writing = "the model writes…"

// steps shows the steps since the last turn.
func (t *Terminal) steps(l policy.Look) {
	if len(l.Steps) < t.shown { // a rollback
		t.say(console.Yellow, fmt.Sprintf("back at step %d", len(l.Steps)+1))
	}
	from := min(t.shown, len(l.Steps))
	for i, s := range l.Steps[from:] {
		if len(l.Steps)-from > 1 || t.shown == 0 && !t.asked { // steps from an earlier session, or several calls in one turn
			t.say(console.Bold, fmt.Sprintf("step %d", from+i+1))
			t.write(l, "Thought: "+s.Thought+"\nAction: "+s.Action+"("+s.Argument+")", "")
		}
		if s.Observation != "" {
			t.write(l, s.Observation, console.Dim)
		}
	}
	t.asked = true
	t.shown = len(l.Steps)
}

// turn shows the turn that the user must decide on.
func (t *Terminal) turn(l policy.Look) {
	fmt.Fprintln(t.Screen)
	t.say(console.Bold, fmt.Sprintf("step %d", l.Place))
	t.write(l, l.Turn, "")
	if l.Unreadable != "" {
		t.say(console.Yellow, "this cannot be read; if accepted, the model is told so: "+text.OneLine(text.Clean(l.Unreadable)))
	}
	if len(l.Unseen) > 0 {
		t.say(console.Yellow, "not seen before: "+text.OneLine(text.Clean(strings.Join(l.Unseen, ", "))))
	}
	if l.Problem != "" {
		t.say(console.Red, "that cannot be carried out: "+text.OneLine(text.Clean(l.Problem)))
	}
}

// ask asks the user once. If the reply is not a decision, done is false.
func (t *Terminal) ask(ctx context.Context, l policy.Look) (d policy.Decision, done bool, err error) {
	line, err := t.line(ctx, "accept, edit, skip, back, quit? (? for help) ")
	if err != nil {
		return d, false, err
	}
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "", "a", "accept", "y", "yes", "1":
		return policy.Decision{Verdict: event.Accepted}, true, nil
	case "e", "edit":
		return t.edit(ctx, l)
	case "s", "skip":
		if rest == "" {
			if rest, err = t.line(ctx, "why? (Enter for no reason) "); err != nil {
				return d, false, err
			}
		}
		return policy.Decision{Verdict: event.Skipped, Reason: rest}, true, nil
	case "b", "back":
		return t.back(rest, l)
	case "g", "gold":
		t.showGold(true)
	case "q", "quit":
		return d, false, policy.ErrLeft
	case "?", "h", "help":
		fmt.Fprintln(t.Screen, help)
	default:
		if !isTurn(line) {
			t.say(console.Yellow, fmt.Sprintf("%q is not one of these; ? explains them", text.Clip(text.Clean(line), 60)))
			return d, false, nil
		}
		t.say(console.Dim, "an empty line ends the turn")
		more, err := t.paragraph(ctx)
		if err != nil {
			return d, false, err
		}
		return policy.Decision{Verdict: event.Edited, Text: strings.TrimSpace(line + "\n" + more)}, true, nil
	}
	return d, false, nil
}

// isTurn reports whether a line is the first line of a complete turn.
func isTurn(line string) bool {
	lower := strings.ToLower(line)
	return strings.HasPrefix(lower, "thought:") || strings.HasPrefix(lower, "action:")
}

func (t *Terminal) back(to string, l policy.Look) (policy.Decision, bool, error) {
	place := l.Place - 1
	if to != "" {
		n, err := strconv.Atoi(to)
		if err != nil {
			t.say(console.Yellow, fmt.Sprintf("back to where? %q is not the number of a step", text.Clip(text.Clean(to), 20)))
			return policy.Decision{}, false, nil
		}
		place = n
	}
	if place < 1 || place >= l.Place {
		t.say(console.Yellow, fmt.Sprintf("there is no step %d to go back to", place))
		return policy.Decision{}, false, nil
	}
	return policy.Decision{Verdict: event.WentBack, To: place}, true, nil
}

// edit lets the user change the turn in the editor or by retyping it. If the edit fails or the result is empty, it is
// not a decision.
func (t *Terminal) edit(ctx context.Context, l policy.Look) (d policy.Decision, done bool, err error) {
	var said string
	if t.Edit != nil {
		said, err = t.Edit(ctx, l.Turn, t.below(l))
		if ctx.Err() != nil {
			return d, false, ctx.Err()
		}
		if err != nil {
			t.say(console.Red, text.Clean(err.Error()))
			return d, false, nil
		}
	} else if said, err = t.typed(ctx, l); err != nil {
		return d, false, err
	}
	if strings.TrimSpace(said) == "" {
		t.say(console.Yellow, "that is empty, so nothing was changed")
		return d, false, nil
	}
	return policy.Decision{Verdict: event.Edited, Text: strings.TrimSpace(said)}, true, nil
}

// typed lets the user type the thought and then the action.
func (t *Terminal) typed(ctx context.Context, l policy.Look) (string, error) {
	thought, actions := l.Turn, ""
	if i := strings.Index(l.Turn, "\nAction:"); i >= 0 {
		thought, actions = l.Turn[:i], l.Turn[i+1:]
	}
	said, err := t.line(ctx, "thought (Enter keeps it): ")
	if err != nil {
		return "", err
	}
	if said != "" {
		thought = "Thought: " + strings.TrimSpace(strings.TrimPrefix(said, "Thought:"))
	}
	fmt.Fprintln(t.Screen, "action, such as name(argument), ending with an empty line (an empty line alone keeps it):")
	said, err = t.paragraph(ctx)
	if err != nil {
		return "", err
	}
	if said = strings.TrimSpace(said); said != "" {
		actions = said
		if !strings.HasPrefix(strings.ToLower(said), "action:") {
			actions = "Action: " + said
		}
	}
	return thought + "\n" + actions, nil
}

// below returns the read-only text shown below the turn in the editor.
func (t *Terminal) below(l policy.Look) string {
	var b strings.Builder
	b.WriteString("Change thought and action above this line, then save and leave. To change nothing, leave it as it is.\n" +
		"The rest is for reading.\n\nThe question: " + text.Clean(t.question) + "\n")
	if l.Problem != "" {
		b.WriteString("\nWhat was wrong: " + text.Clean(l.Problem) + "\n")
	}
	if len(l.Unseen) > 0 {
		b.WriteString("\nNot seen before: " + text.Clean(strings.Join(l.Unseen, ", ")) + "\n")
	}
	if t.Gold.SPARQL != "" {
		b.WriteString("\nA correct query:\n" + text.Clean(t.Gold.SPARQL) + "\n")
	}
	if t.Gold.Answer != "" {
		b.WriteString("\nIts result:\n" + text.Clean(t.Gold.Answer) + "\n")
	}
	if n := len(l.Steps); n > 0 {
		b.WriteString("\nThe last observation:\n" + text.Clean(l.Steps[n-1].Observation) + "\n")
	}
	return b.String()
}

// paragraph reads lines up to an empty line.
func (t *Terminal) paragraph(ctx context.Context) (string, error) {
	var out []string
	for {
		line, err := t.line(ctx, "")
		if err != nil || line == "" {
			return strings.Join(out, "\n"), err
		}
		out = append(out, line)
	}
}

// line shows a prompt and reads a line. Ctrl-C ends the wait. At the end of the input, the error is [policy.ErrLeft].
func (t *Terminal) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.Screen, prompt)
	if t.lines == nil {
		t.lines = make(chan outcome, 1)
		go func(read chan<- outcome) {
			said, err := t.In.ReadString('\n')
			if errors.Is(err, io.EOF) && said != "" {
				err = nil
			}
			read <- outcome{strings.TrimRight(said, " \t\r\n"), err}
		}(t.lines)
	}
	select {
	case l := <-t.lines:
		t.lines = nil
		if t.Screen.Terminal() {
			t.Screen.Entered()
		}
		if l.err != nil {
			fmt.Fprintln(t.Screen)
			if errors.Is(l.err, io.EOF) {
				return "", policy.ErrLeft
			}
			return "", fmt.Errorf("your input cannot be read: %w", l.err)
		}
		return l.text, nil
	case <-ctx.Done():
		fmt.Fprintln(t.Screen)
		return "", ctx.Err()
	}
}

func (t *Terminal) say(style console.Style, s string) {
	for _, line := range console.Wrap(s, max(20, t.width())) {
		fmt.Fprintln(t.Screen, t.Screen.In(style, line))
	}
}

func (t *Terminal) width() int {
	if w := t.Screen.Width(); w > 0 {
		return w
	}
	return 120
}

// write writes text in a style, indented and with IDs highlighted.
func (t *Terminal) write(l policy.Look, s string, style console.Style) {
	fmt.Fprintln(t.Screen, t.mark(console.Indent(text.Clean(s), "   ", t.Screen.Width()), l, style))
}

// Begin shows the question and the known correct answer.
func (t *Terminal) Begin(question string) {
	t.question = question
	t.say(console.Bold, text.Clean(question))
	t.showGold(false)
	t.Screen.Progress(writing)
}

// showGold shows the known correct answer. asked means that the user asked for it.
func (t *Terminal) showGold(asked bool) {
	switch {
	case t.Gold.SPARQL != "":
		fmt.Fprintln(t.Screen, t.Screen.In(console.Green, "a correct query:"))
		t.write(policy.Look{}, t.Gold.SPARQL, "")
		if t.Gold.Answer != "" {
			fmt.Fprintln(t.Screen, t.Screen.In(console.Green, "its result:"))
			t.write(policy.Look{}, t.Gold.Answer, "")
		}
	case asked:
		t.say(console.Yellow, "no correct query is known; use --gold to name a file with correct queries")
	}
}

// Package training creates training data sets from runs and from discussions: it selects lines, leaves out duplicates
// and lines that are similar to a test item, and describes the data set in a card.
//
//	training.go  line selection
//	gold.go      distant supervision: runs and branches whose answer matches gold
//	forum.go     preferences from discussions in which a query was corrected
//	card.go      the card, and licenses
//
// Package transcript creates the lines themselves.
package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Options select the lines.
type Options struct {
	As      string // transcript.AsSFT, …
	All     bool   // include runs without an answer
	Several bool   // include several lines for questions with the same or nearly the same wording

	MinF1   float64 // minimum F1 of a run's answer against gold; gold is not used if 0. Requires benchmark run folders
	Measure string  // measure for MinF1, as named by package evalrun

	// Excluded returns the IDs of the discussions in a harvest that annotators excluded; nil if there are no
	// annotations
	Excluded func(ctx context.Context, dir string) (map[string]bool, error)

	Not     *examples.Held // lines must not be similar to these items; may be nil
	License string         // license of the lines, or ""; lines from a discussion have the forum's license
}

// Reasons for leaving out runs, lines and discussions. For a line that is similar to a test item, the reason is "near a
// test item", followed by an [examples.Reason].
const (
	NoRun     = "no run of a question"
	NoAnswer  = "no answer"
	Nothing   = "nothing to learn in it"
	NoGold    = "no gold result to compare with"
	LowF1     = "F1 too low"
	SameText  = "the same text as another line"
	SameAsked = "the question of another line, or nearly"
	HeldBack  = "near a test item: "
	NoPair    = "a discussion in which nobody corrected a query"
	Unsettled = "a discussion in which nobody said that the query is right"
	Excluded  = "a discussion that annotators excluded"
)

// Export is the result of an export.
type Export struct {
	Lines  []Line
	Out    map[string]int // number left out, by reason
	Unread []string       // unreadable files and folders without files, each with the reason
	// number of lines from a branch that the search did not choose but that scores better against gold
	OtherBranch int
}

// Line is a line in the data set, with its data for the card.
type Line struct {
	Text    []byte
	From    string // run, review, tree, dialogue (from another program) or forum
	Preset  string
	Model   string
	License string
	Link    string // permanent link to the discussion, or "" for a run

	key        string
	question   string
	confidence float64
	f1         float64
}

// LeftOut returns the number of runs, pairs and discussions that were left out.
func (x *Export) LeftOut() (n int) {
	for _, k := range x.Out {
		n += k
	}
	return n
}

// Held returns the number of lines left out because they are similar to a test item.
func (x *Export) Held() (n int) {
	for why, k := range x.Out {
		if strings.HasPrefix(why, HeldBack) {
			n += k
		}
	}
	return n
}

// Reasons returns the reasons, the most frequent first.
func (x *Export) Reasons() []string {
	return slices.SortedFunc(maps.Keys(x.Out), func(a, b string) int {
		return cmp.Or(cmp.Compare(x.Out[b], x.Out[a]), cmp.Compare(a, b))
	})
}

// From creates lines from paths, in order. A path is a trajectory, a folder of trajectories, a benchmark run's folder,
// or, for preferences, a harvest folder.
func From(ctx context.Context, paths []string, o Options) (*Export, error) {
	x := &Export{Out: map[string]int{}}
	for _, path := range paths {
		add := x.runs
		switch {
		case isHarvest(path):
			add = x.harvest
		case o.MinF1 > 0:
			add = x.scored
		}
		if err := add(ctx, path, o); err != nil {
			return nil, err
		}
	}
	x.once(o)
	return x, nil
}

func isHarvest(path string) bool {
	_, err := os.Stat(filepath.Join(path, dataset.CandidatesFile))
	return err == nil
}

// runs adds the lines from trajectories and dialogues.
func (x *Export) runs(ctx context.Context, path string, o Options) error {
	for p, err := range transcript.Each(path) {
		switch {
		case errors.Is(err, transcript.ErrNoPath):
			return err
		case err != nil:
			x.Unread = append(x.Unread, fmt.Sprintf("%s: %v", p.Path, text.JSON(err)))
			continue
		case !p.Known():
			x.Out[NoRun]++
			continue
		}
		if err := x.piece(p, nameOf(path, p.Path), o); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// nameOf returns a trajectory's name as used in a line: its base name, preceded by the folder name for a benchmark run.
func nameOf(path, file string) string {
	name := filepath.Base(file)
	if filepath.Base(filepath.Dir(file)) == "trajectories" && filepath.Dir(filepath.Dir(file)) == filepath.Clean(path) {
		return filepath.Base(filepath.Clean(path)) + "/" + name
	}
	return name
}

func (x *Export) piece(p *transcript.Piece, file string, o Options) error {
	if !o.All && !p.Answered() {
		x.Out[NoAnswer]++
		return nil
	}
	if why := near(p, o); why != "" {
		x.Out[HeldBack+string(why)]++
		return nil
	}
	l := Line{License: o.License}
	if p.Chat != nil {
		p.Chat.License = o.License
		l.From, l.Model, l.question = "dialogue", p.Chat.Model, p.Chat.Question
	} else {
		p.Run.License = o.License
		l.From, l.Model, l.Preset, l.question = "run", p.Run.Model, p.Run.Preset, asked(p.Run.Question)
		if p.Run.End != nil {
			l.confidence = p.Run.End.Confidence
		}
		if p.Run.F1 != nil {
			l.f1 = *p.Run.F1
		}
	}
	lines, err := p.Lines(o.As, file)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		x.Out[Nothing]++
	}
	for _, pair := range lines {
		l.Text, l.key, l.From = pair.Line, pair.Key, cmp.Or(pair.From, l.From)
		x.Lines = append(x.Lines, l)
	}
	return nil
}

// asked returns all questions in the conversation, since the meaning of the last one depends on those before it.
func asked(q event.Question) string {
	var out []string
	for _, turn := range q.History {
		out = append(out, turn.Question)
	}
	return strings.Join(append(out, q.Text), "\n")
}

// near returns the reason why a run is too similar to an item that must not be used for training. It compares the
// question, the queries, and the solved questions that the model was shown.
func near(p *transcript.Piece, o Options) examples.Reason {
	if o.Not == nil {
		return ""
	}
	if c := p.Chat; c != nil {
		return o.Not.Near(c.ID, []string{c.Question}, []string{c.SPARQL})
	}
	r := p.Run
	questions := []string{r.Question.Text}
	for _, turn := range r.Question.History {
		questions = append(questions, turn.Question)
	}
	why := o.Not.Near(r.ID, questions, r.Queries(o.As == transcript.AsPreference))
	for _, e := range r.Examples {
		if why == "" {
			why = o.Not.Near(e.ID, []string{e.Question}, []string{e.SPARQL})
		}
	}
	return why
}

// once removes duplicates: lines with the same text and, except for preferences, lines for the same question. (A
// question has many preferences.) Among several lines for a question, it keeps the best one, by F1, then by
// confidence, then by order.
func (x *Export) once(o Options) {
	order := make([]int, len(x.Lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(x.Lines[b].f1, x.Lines[a].f1), cmp.Compare(x.Lines[b].confidence, x.Lines[a].confidence))
	})
	texts, questions, drop := map[string]bool{}, examples.Hold(nil), make([]bool, len(x.Lines))
	for _, i := range order {
		l := &x.Lines[i]
		switch {
		case texts[l.key]:
			x.Out[SameText]++
			drop[i] = true
			continue
		case o.As != transcript.AsPreference && !o.Several && questions.Wording(l.question) != "":
			x.Out[SameAsked]++
			drop[i] = true
			continue
		}
		texts[l.key] = true
		questions.Add(dataset.Item{Question: l.question})
	}
	kept := x.Lines[:0]
	for i, l := range x.Lines {
		if !drop[i] {
			kept = append(kept, l)
		}
	}
	x.Lines = kept
}

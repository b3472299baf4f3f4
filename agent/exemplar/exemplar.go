// Package exemplar reads worked dialogues: a question, and every thought, action and observation up to its answer. They
// are stored in plain text files, by kind of question, in Interactive-KBQA's format:
//
//	# Type: Count
//	# ID: kqapro-count-1
//	Q: How many …?
//	Thought: …
//	Action: SearchNodes("…")
//	Observation: […]
//	…
//	Action: Done
//
// Lines that start with # are not shown to the model. Dialogues are separated by a blank line. A thought or an action
// may span several lines.
//
// Dialogues are also read from the files of Interactive-KBQA's program; see [Chat].
//
// [Set.Classify] determines a question's kind from its words. Alternatively, a model can determine it from
// [Set.Examples].
package exemplar

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Dialogue is a worked dialogue.
type Dialogue struct {
	ID       string
	Type     string // kind of the question: Count, Verify, …
	Query    string // the final query from the data set; may be empty
	Answer   string // the answer from the data set; may be empty
	Question string
	Rounds   []Round
}

// Round is one of the model's turns and the observation that follows it. The last round has no observation.
type Round struct{ Thought, Action, Observation string }

// labels are the prefixes that mark the parts of a dialogue.
var labels = []string{"Q:", "Thought:", "Action:", "Observation:"}

// Parse parses the dialogues in a file. Errors contain name, which is the file's name, and the line where something is
// missing.
func Parse(name, text string) ([]Dialogue, error) {
	var out []Dialogue
	var d *Dialogue
	var field *string
	wrong := func(line int, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		n := i + 1
		if strings.TrimSpace(line) == "" {
			if d != nil && d.Question != "" {
				if err := d.complete(); err != nil {
					return nil, wrong(n, "%v", err)
				}
				out = append(out, *d)
				d = nil
			}
			field = nil
			continue
		}
		if d == nil {
			d = &Dialogue{}
		}
		if note, ok := strings.CutPrefix(line, "#"); ok && field == nil {
			d.note(note)
			continue
		}
		label, rest, at := "", line, -1
		for j, l := range labels {
			if s, ok := strings.CutPrefix(line, l); ok {
				label, rest, at = l, strings.TrimSpace(s), j
			}
		}
		last := len(d.Rounds) - 1
		switch {
		case label == "" && field == nil:
			return nil, wrong(n, "the line does not begin with any of %s", strings.Join(labels, " "))
		case label == "":
			*field += "\n" + line
			continue
		case at == 0 && d.Question != "":
			return nil, wrong(n, "a second question; a blank line separates dialogues")
		case at == 0:
			d.Question = rest
			field = &d.Question
			continue
		case at == 1:
			d.Rounds = append(d.Rounds, Round{Thought: rest})
			field = &d.Rounds[last+1].Thought
			continue
		case last < 0:
			return nil, wrong(n, "%s without a thought before it", label)
		case at == 2:
			d.Rounds[last].Action = rest
			field = &d.Rounds[last].Action
		case at == 3:
			d.Rounds[last].Observation = rest
			field = &d.Rounds[last].Observation
		}
	}
	if d != nil && d.Question != "" {
		if err := d.complete(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, *d)
	}
	return out, nil
}

// note parses a line that starts with #; s is the rest of the line.
func (d *Dialogue) note(s string) {
	key, value, _ := strings.Cut(s, ":")
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "id":
		d.ID = value
	case "type":
		d.Type = value
	case "sparql", "query":
		d.Query = value
	case "answer":
		d.Answer = value
	}
}

// complete returns an error that names what is missing from the dialogue, or nil if it is complete.
func (d *Dialogue) complete() error {
	if len(d.Rounds) == 0 {
		return fmt.Errorf("the dialogue %q has no turn", d.Question)
	}
	for i, r := range d.Rounds {
		if r.Action == "" {
			return fmt.Errorf("turn %d of %q has no action", i+1, d.Question)
		}
	}
	return nil
}

// String returns the dialogue as the model sees it, without the lines that start with #.
func (d *Dialogue) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Q: %s\n", d.Question)
	for _, r := range d.Rounds {
		fmt.Fprintf(&b, "Thought: %s\nAction: %s\n", r.Thought, r.Action)
		if r.Observation != "" {
			fmt.Fprintf(&b, "Observation: %s\n", r.Observation)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Text returns the dialogue as stored in its file.
func (d *Dialogue) Text() string {
	var b strings.Builder
	for _, x := range [][2]string{{"ID", d.ID}, {"Type", d.Type}, {"SPARQL", d.Query}, {"Answer", d.Answer}} {
		if x[1] != "" {
			fmt.Fprintf(&b, "# %s: %s\n", x[0], x[1])
		}
	}
	return b.String() + d.String() + "\n"
}

// Labelled is a question whose kind is known.
type Labelled struct{ Type, Question string }

// Set contains the dialogues for a graph, and questions whose kind is known.
type Set struct {
	Dialogues []Dialogue
	Labelled  []Labelled // including the questions in the dialogues
	classes   *classes
}

// Load reads the files in a folder: dialogues from NAME.txt, and from NAME.json in the format of Interactive-KBQA's
// program ([Chat]). If the folder contains questions.tsv, Load reads more questions from it, each preceded by its kind
// and a tab.
func Load(fsys fs.FS, dir string) (*Set, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	for _, e := range entries {
		f := dir + "/" + e.Name()
		read := map[string]func(string, string) ([]Dialogue, error){".txt": Parse, ".json": parseChat}[path.Ext(f)]
		if read == nil || e.IsDir() {
			continue
		}
		text, err := fs.ReadFile(fsys, f)
		if err != nil {
			return nil, err
		}
		ds, err := read(f, string(text))
		if err != nil {
			return nil, err
		}
		s.Dialogues = append(s.Dialogues, ds...)
	}
	for _, d := range s.Dialogues {
		s.Labelled = append(s.Labelled, Labelled{d.Type, d.Question})
	}
	questions := dir + "/questions.tsv"
	if text, err := fs.ReadFile(fsys, questions); err == nil {
		for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			kind, q, ok := strings.Cut(line, "\t")
			if !ok || kind == "" || strings.TrimSpace(q) == "" {
				return nil, fmt.Errorf("%s:%d: want a kind, a tab and a question", questions, i+1)
			}
			s.Labelled = append(s.Labelled, Labelled{kind, strings.TrimSpace(q)})
		}
	}
	s.classes = learn(s.Labelled)
	return s, nil
}

// Types returns the kinds that have dialogues, sorted.
func (s *Set) Types() []string {
	var out []string
	for _, d := range s.Dialogues {
		if !slices.Contains(out, d.Type) {
			out = append(out, d.Type)
		}
	}
	slices.Sort(out)
	return out
}

// Of returns the first n dialogues of a kind.
func (s *Set) Of(kind string, n int) []Dialogue {
	var out []Dialogue
	for _, d := range s.Dialogues {
		if d.Type == kind && len(out) < n {
			out = append(out, d)
		}
	}
	return out
}

// Examples returns the first n questions of each kind that has dialogues, ordered by kind.
func (s *Set) Examples(n int) (out []Labelled) {
	for _, k := range s.Types() {
		left := n
		for _, l := range s.Labelled {
			if l.Type == k && left > 0 {
				out = append(out, l)
				left--
			}
		}
	}
	return out
}

// Named returns the kind named in a model's answer, or "" if the answer names no kind or several, or is too long.
func (s *Set) Named(answer string) (kind string) {
	if len(answer) > maxAnswer {
		return ""
	}
	const edge = `(?:^|$|[^\pL\pN_-])` // a word boundary
	for _, k := range s.Types() {
		if !regexp.MustCompile(`(?i)` + edge + regexp.QuoteMeta(k) + edge).MatchString(answer) {
			continue
		}
		if kind != "" {
			return ""
		}
		kind = k
	}
	return kind
}

// maxAnswer is the maximum length, in bytes, of an answer that names a kind.
const maxAnswer = 200

// Classify determines a question's kind from its words. It returns "" if the set has no kinds.
func (s *Set) Classify(question string) string { return s.classes.of(question) }

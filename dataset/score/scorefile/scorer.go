package scorefile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Need is the error returned for a file that requires data that the [Scorer] does not have.
type Need string

// Error describes what is missing.
func (n Need) Error() string { return string(n) }

// Data that a file may require.
const (
	NeedGold    Need = "it has no gold answers"
	NeedRows    Need = "it has queries without their rows"
	NeedOutputs Need = "it is a benchmark, questions with their queries, and has no outputs of a system"
	NeedGRASP   Need = "a file of GRASP's evaluation has no rows, only its own scores"
	NeedKBQA    Need = "dialogues of Interactive-KBQA have values, not rows"
)

// Graph runs queries. An error other than a [kg.Error] aborts scoring.
type Graph interface {
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Scorer scores output files. Set its fields, read the data that the files require, and call [Scorer.File] for each
// file.
type Scorer struct {
	Name     string // name of the requested measures, for [Document.Metric]
	Metrics  []score.Metric
	Limit    time.Duration         // time limit per item and measure; after that, bounds replace the score
	Graph    Graph                 // for rows that cannot be found elsewhere; may be nil
	Stdin    io.Reader             // the file "-"
	Progress func(done, asked int) // called before each query, with the items scored and the queries run; may be nil

	hasGold, hasResults bool

	gold   []dataset.Item
	goldAt map[string]int             // maps an ID to its position in gold
	goldBy map[string]int             // by question
	known  map[string]json.RawMessage // results by query, without surrounding white space; null if the query failed
	steps  map[string][]int           // by question, in order
	speech map[string]string          // languages by ID, from a run's meta.jsonl

	keep        *os.File
	done, asked int
}

// Close closes the file that [Scorer.Keep] opened.
func (s *Scorer) Close() error {
	if s.keep == nil {
		return nil
	}
	return s.keep.Close()
}

// Result returns the known result of a query, or null if the query failed.
func (s *Scorer) Result(query string) (json.RawMessage, bool) {
	r, ok := s.known[strings.TrimSpace(query)]
	return r, ok
}

func (s *Scorer) remember(query string, result json.RawMessage) {
	if s.known == nil {
		s.known = map[string]json.RawMessage{}
	}
	s.known[query] = result
}

// ReadGold reads a benchmark, which supplies the gold queries or answers for outputs without them.
func (s *Scorer) ReadGold(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.gold, _, err = dataset.ReadItems(f); err != nil {
		return err
	}
	s.hasGold, s.goldAt, s.goldBy = true, map[string]int{}, map[string]int{}
	for i, it := range s.gold {
		s.goldAt[it.ID], s.goldBy[it.Question] = i, i
	}
	return nil
}

// ReadResults reads query results: lines written by [Scorer.Keep], or outputs with rows.
func (s *Scorer) ReadResults(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s.hasResults = true
	_, err = score.ReadOutputs(f, func(o *score.Output) error {
		if o.Unreadable != "" {
			return fmt.Errorf("item #%d: %s", o.Index+1, o.Unreadable)
		}
		if o.Result == nil && o.GoldResult == nil {
			return fmt.Errorf("item #%d has no result", o.Index+1)
		}
		for query, result := range map[string]json.RawMessage{o.SPARQL: o.Result, o.Gold: o.GoldResult} {
			if query = strings.TrimSpace(query); query != "" && result != nil {
				s.remember(query, result)
			}
		}
		return nil
	})
	return err
}

// ReadSteps reads the numbers of steps from SPINACH's log, a JSON array of final states.
func (s *Scorer) ReadSteps(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return errors.New("it is not a JSON array of final states")
	}
	out := map[string][]int{}
	for n := 0; dec.More(); n++ {
		var state struct {
			Question string            `json:"question"`
			Actions  []json.RawMessage `json:"actions"`
		}
		if err := dec.Decode(&state); err != nil {
			return fmt.Errorf("state %d: %w", n+1, text.JSON(err))
		}
		out[state.Question] = append(out[state.Question], len(state.Actions))
	}
	s.steps = out
	return nil
}

// scoredFile is an output file with the scores of its items.
type scoredFile struct {
	items     []score.Scored
	dialogues []*score.Dialogue
	missing   []string        // gold items without an output
	stored    map[int]float64 // F1 in the file, by position, if any
	odd       []Remark        // items that cannot be read
}

// File scores a file, the results in a run's folder, or a folder of dialogue files; "-" means Stdin. The error is a
// [Need] if the file requires data that the scorer does not have. Items that cannot be read are reported in the
// document; the others are still scored.
func (s *Scorer) File(ctx context.Context, name string) (*Document, error) {
	f, format, err := s.file(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.document(name, format, f), nil
}

func (s *Scorer) file(ctx context.Context, name string) (*scoredFile, score.Format, error) {
	names := []string{name}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		if names, err = filesOf(name); err != nil {
			return nil, "", err
		}
	}
	s.speech = readLanguages(filepath.Join(name, "meta.jsonl"))
	out := &scoredFile{stored: map[int]float64{}}
	var format score.Format
	seen := map[string]bool{}
	for _, n := range names {
		r := s.Stdin
		if n != "-" {
			f, err := os.Open(n)
			if err != nil {
				return nil, "", err
			}
			defer f.Close()
			r = f
		}
		got, err := score.ReadOutputs(r, func(o *score.Output) error {
			o.Index = len(out.items)
			seen[o.ID] = true
			return s.item(ctx, o, out)
		})
		if err != nil {
			if n != name {
				err = fmt.Errorf("%s: %w", filepath.Base(n), err)
			}
			return nil, "", err
		}
		format = got
	}
	if format == score.GRASPOutputs {
		for _, it := range s.gold {
			if !seen[it.ID] {
				out.missing = append(out.missing, it.ID)
			}
		}
	}
	return out, format, nil
}

// readLanguages reads the question languages that a run detected. It returns an empty map if the file is missing or in
// a different format.
func readLanguages(name string) map[string]string {
	out := map[string]string{}
	f, err := os.Open(name)
	if err != nil {
		return out
	}
	defer f.Close()
	for dec := json.NewDecoder(f); ; {
		var m struct{ ID, Language string }
		if dec.Decode(&m) != nil {
			return out
		}
		out[m.ID] = m.Language
	}
}

// filesOf lists the files to score in a folder: results.jsonl for a run, and otherwise all .json files, sorted by
// name.
func filesOf(dir string) ([]string, error) {
	results := filepath.Join(dir, "results.jsonl")
	if _, err := os.Stat(results); err == nil {
		return []string{results}, nil
	}
	var names []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(p) == ".json" {
			names = append(names, p)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = errors.New("the folder has neither results.jsonl nor .json files")
	}
	return names, err
}

func (s *Scorer) item(ctx context.Context, o *score.Output, out *scoredFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.Stored != nil {
		out.stored[o.Index] = *o.Stored
	}
	it := score.Scored{Index: o.Index, ID: o.ID, Failure: o.Failure, Groups: map[string][]string{}}
	if queue := s.steps[o.Question]; o.Steps < 0 && len(queue) > 0 {
		o.Steps, s.steps[o.Question] = queue[0], queue[1:]
	}
	var err error
	switch {
	case o.Unreadable != "":
		err = unreadableError(o.Unreadable)
	case o.Scored != nil:
		err = s.evaluated(o, &it)
	case o.Dialogue != nil:
		err = s.dialogue(o, &it, out)
	default:
		err = s.rows(ctx, o, &it)
	}
	if why := unreadableError(""); errors.As(err, &why) {
		it.Excluded, it.Failure, err = unreadable, "", nil
		out.odd = append(out.odd, Remark{itemKey(o.ID, o.Index), why.Error()})
	}
	out.items = append(out.items, it)
	s.done++
	return err
}

// unreadable is the reason given when an item that cannot be read is left out of the means.
const unreadable = "the item cannot be read"

// An unreadableError describes which part of an item cannot be read. The other items are still scored.
type unreadableError string

func (e unreadableError) Error() string { return string(e) }

// evaluated copies GRASP's own score.
func (s *Scorer) evaluated(o *score.Output, it *score.Scored) error {
	if !slices.Contains(s.Metrics, score.MetricGRASP) {
		return NeedGRASP
	}
	it.Excluded = o.Scored.Excluded
	f1 := o.Scored.Score
	it.Scores.GRASP = &score.Score{F1: f1, EM: f1 == 1, Upper: f1, Lowest: f1}
	return nil
}

// dialogue scores an Interactive-KBQA dialogue, which has names and values instead of rows.
func (s *Scorer) dialogue(o *score.Output, it *score.Scored, out *scoredFile) error {
	if !slices.Contains(s.Metrics, score.MetricKBQA) {
		return NeedKBQA
	}
	values, _ := o.Dialogue.Predicted()
	sets := score.Sets(o.Dialogue.Gold(), values, o.Aliases)
	it.Scores.KBQA = &sets
	it.Groups["steps"] = stepsGroup(o.Steps)
	out.dialogues = append(out.dialogues, o.Dialogue)
	return nil
}

// rows scores an output by its rows, which are either in the output or looked up.
func (s *Scorer) rows(ctx context.Context, o *score.Output, it *score.Scored) error {
	if err := s.complete(ctx, o, it); err != nil {
		return err
	}
	it.Groups["steps"] = stepsGroup(o.Steps)
	if o.Language == "" {
		o.Language = s.speech[o.ID]
	}
	if o.Language != "" {
		it.Groups["language"] = []string{o.Language}
	}
	hint := queryGroups(o.Gold, it.Groups)
	d := score.NewDict()
	gold, err := score.ReadAnswer(d, o.GoldResult)
	if err != nil {
		return unreadableError("gold: " + err.Error())
	}
	pred, err := score.ReadAnswer(d, o.Result)
	if err != nil {
		return unreadableError("prediction: " + err.Error())
	}
	if it.Excluded == "" && gold.Kind == score.Table && gold.Empty() {
		it.Excluded = score.EmptyGold // applies to the set measures too
	}
	it.Groups["size"] = sizeGroup(gold)
	for _, m := range s.Metrics {
		limited, cancel := context.WithTimeout(ctx, s.Limit)
		one := score.Compare(limited, gold, pred, hint, o.Aliases, score.Limits{}, m)
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
		switch m {
		case score.MetricSpinach:
			it.Scores.Spinach = one.Spinach
		case score.MetricGRASP:
			it.Scores.GRASP = one.GRASP
		case score.MetricFair:
			it.Scores.Fair = one.Fair
		case score.MetricKBQA:
			it.Scores.KBQA = one.KBQA
		}
	}
	return nil
}

// fill completes an output with data from the benchmark. It reports whether the benchmark contains the item.
func (s *Scorer) fill(o *score.Output) bool {
	i, ok := s.goldAt[o.ID]
	if !ok || o.ID == "" {
		i, ok = s.goldBy[o.Question]
	}
	if !ok {
		return false
	}
	g := &s.gold[i]
	o.Language = cmp.Or(o.Language, g.Language)
	o.Gold = cmp.Or(o.Gold, g.SPARQL)
	if o.GoldResult == nil && len(g.Answers) > 0 {
		o.GoldResult = g.Answers
	}
	return true
}

// complete adds the missing parts of an output: the gold query and the language from the benchmark, and rows from
// results or the graph.
func (s *Scorer) complete(ctx context.Context, o *score.Output, it *score.Scored) error {
	if o.GoldResult == nil && !s.hasGold && o.Benchmark {
		return NeedOutputs
	}
	if o.GoldResult == nil && !s.hasGold {
		return NeedGold
	}
	if o.Result == nil && s.Graph == nil && !s.hasResults {
		return NeedRows
	}
	ok := s.fill(o)
	var err error
	if o.GoldResult == nil {
		var failure, why string
		if o.GoldResult, failure, why, err = s.lookUp(ctx, o.Gold); err != nil {
			return err
		}
		if failure += why; failure != "" {
			it.Excluded = "no gold answer: " + failure
		} else if !ok {
			it.Excluded = score.NoGold
		}
	}
	if o.Result == nil {
		var failure string
		if o.Result, failure, _, err = s.lookUp(ctx, o.SPARQL); err != nil {
			return err
		}
		if failure != "" && it.Failure == "" {
			it.Failure = failure
		}
	}
	return nil
}

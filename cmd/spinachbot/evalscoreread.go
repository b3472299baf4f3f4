package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/store"
)

// errNeedsMore marks a file that cannot be scored with what was given.
var errNeedsMore = errors.New("more is needed")

// scorer is one call of eval score.
type scorer struct {
	e       *env
	lg      *slog.Logger
	flags   *scoreFlags
	cfg     *config.Config // of --kg wikidata
	metrics []score.Metric

	gold   []dataset.Item
	goldAt map[string]int             // position in gold by id
	goldBy map[string]int             // by question
	known  map[string]json.RawMessage // results by query, white space trimmed; null for a query that failed
	graph  interface {
		Query(ctx context.Context, query string) (*kg.Table, error)
	}
	steps  map[string][]int  // of --log: by question, in order
	speech map[string]string // languages by id, from meta.jsonl of a run

	keep        *os.File // of --keep
	progress    *progressLine
	done, asked int
	closers     []io.Closer
}

func (s *scorer) close() {
	for _, c := range s.closers {
		_ = c.Close() // read only, or a store whose writes were seen to
	}
}

// open reads what the flags name.
func (s *scorer) open(ctx context.Context) (err error) {
	s.known = map[string]json.RawMessage{}
	for _, name := range s.flags.results {
		if err := s.readResults(name); err != nil {
			return fmt.Errorf("--results %s: %w", name, err)
		}
	}
	if s.flags.keep != "" {
		if err := s.openKeep(s.flags.keep); err != nil {
			return fmt.Errorf("--keep %s: %w", s.flags.keep, err)
		}
	}
	if s.flags.gold != "" {
		if err := s.readGold(s.flags.gold); err != nil {
			return fmt.Errorf("--gold %s: %w", s.flags.gold, err)
		}
	}
	if s.flags.log != "" {
		if s.steps, err = readStepsLog(s.flags.log); err != nil {
			return fmt.Errorf("--log %s: %w", s.flags.log, err)
		}
	}
	switch {
	case len(s.flags.data) > 0:
		s.graph, err = embedded.Load(embedded.Options{Name: "the graph of " + filepath.Base(s.flags.data[0]), Now: s.e.now, Random: randomUint64}, s.flags.data...)
	case s.flags.kg == "embedded":
		s.graph, err = builtinGraph(s.e.now)
	case s.flags.kg == "wikidata":
		var st *store.Store
		if err = os.MkdirAll(s.cfg.DataDir, 0o700); err != nil {
			return err
		}
		if st, err = store.Open(ctx, filepath.Join(s.cfg.DataDir, ledgerFile)); err != nil {
			return err
		}
		s.closers = append(s.closers, st)
		s.graph, err = newGraph(s.lg, s.cfg, st, nil)
	}
	return err
}

func (s *scorer) readGold(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.gold, _, err = dataset.ReadItems(f); err != nil {
		return err
	}
	s.goldAt, s.goldBy = map[string]int{}, map[string]int{}
	for i, it := range s.gold {
		s.goldAt[it.ID], s.goldBy[it.Question] = i, i
	}
	return nil
}

// readResults keeps results by their query.
func (s *scorer) readResults(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = score.ReadOutputs(f, func(o *score.Output) error {
		if o.Unreadable != "" {
			return fmt.Errorf("item %d: %s", o.Index, o.Unreadable)
		}
		if o.Result == nil && o.GoldResult == nil {
			return fmt.Errorf("item %d has no result", o.Index)
		}
		for query, result := range map[string]json.RawMessage{o.SPARQL: o.Result, o.Gold: o.GoldResult} {
			if query = strings.TrimSpace(query); query != "" && result != nil {
				s.known[query] = result
			}
		}
		return nil
	})
	return err
}

// readStepsLog reads SPINACH's log: a JSON array of final states, of which question and actions count.
func readStepsLog(name string) (map[string][]int, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.New("it is no JSON array of final states")
	}
	out := map[string][]int{}
	for n := 0; dec.More(); n++ {
		var state struct {
			Question string            `json:"question"`
			Actions  []json.RawMessage `json:"actions"`
		}
		if err := dec.Decode(&state); err != nil {
			return nil, fmt.Errorf("state %d: %w", n, err)
		}
		out[state.Question] = append(out[state.Question], len(state.Actions))
	}
	return out, nil
}

// scoredFile is a file of outputs with the scores of its items.
type scoredFile struct {
	items     []score.Scored
	dialogues []*score.Dialogue
	missing   []string        // gold items without an output
	stored    map[int]float64 // F1 in the file, by position, where it has one
	odd       []itemRemark    // items that cannot be read
}

// file scores a file, the results of a run's folder, or a folder of dialogue files.
func (s *scorer) file(ctx context.Context, name string) (*scoredFile, score.Format, error) {
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
		r := s.e.stdin
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

// readLanguages reads the languages of questions that a run found; a file that is not there, or is something else, has none.
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

// filesOf lists what of a folder is scored: results.jsonl of a run, else every .json file in it, by name.
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
		err = errors.New("the folder holds neither results.jsonl nor .json files")
	}
	return names, err
}

// item scores one output.
func (s *scorer) item(ctx context.Context, o *score.Output, out *scoredFile) error {
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
		out.odd = append(out.odd, itemRemark{cmp.Or(o.ID, fmt.Sprint(o.Index)), why.Error()})
	}
	out.items = append(out.items, it)
	s.done++
	return err
}

// unreadable is why items that cannot be read are in no mean.
const unreadable = "the item cannot be read"

// unreadableError says what cannot be read of an item; the others are scored all the same.
type unreadableError string

func (e unreadableError) Error() string { return string(e) }

// evaluated takes over a score of GRASP's own.
func (s *scorer) evaluated(o *score.Output, it *score.Scored) error {
	if !slices.Contains(s.metrics, score.MetricGRASP) {
		return fmt.Errorf("%w: a file of GRASP's evaluation holds no rows, only its own scores: use --metric grasp, or its outputs with --gold and --kg or --results", errNeedsMore)
	}
	it.Excluded = o.Scored.Excluded
	f1 := o.Scored.Score
	it.Scores.GRASP = &score.Score{F1: f1, EM: f1 == 1, Upper: f1, Lowest: f1}
	return nil
}

// dialogue scores a dialogue of Interactive-KBQA, which has names and values in place of rows.
func (s *scorer) dialogue(o *score.Output, it *score.Scored, out *scoredFile) error {
	if !slices.Contains(s.metrics, score.MetricKBQA) {
		return fmt.Errorf("%w: dialogues of Interactive-KBQA hold values, not rows: use --metric kbqa", errNeedsMore)
	}
	values, _ := o.Dialogue.Predicted()
	sets := score.Sets(o.Dialogue.Gold(), values, o.Aliases)
	it.Scores.KBQA = &sets
	it.Groups["steps"] = stepsGroup(o.Steps)
	out.dialogues = append(out.dialogues, o.Dialogue)
	return nil
}

// rows scores an output by its rows, which it holds or which are looked up.
func (s *scorer) rows(ctx context.Context, o *score.Output, it *score.Scored) error {
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
		it.Excluded = score.EmptyGold // for the measures of sets, too
	}
	it.Groups["size"] = sizeGroup(gold)
	for _, m := range s.metrics {
		limited, cancel := context.WithTimeout(ctx, s.flags.limit)
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

// complete gets what the output does not hold: gold query and language from --gold, rows from --results or the graph.
func (s *scorer) complete(ctx context.Context, o *score.Output, it *score.Scored) error {
	if o.GoldResult == nil && s.flags.gold == "" && o.Benchmark {
		return fmt.Errorf("%w: it is a benchmark, questions with their queries, and holds no outputs of a system: name the file of the outputs, and this one with --gold; eval run makes outputs", errNeedsMore)
	}
	if o.GoldResult == nil && s.flags.gold == "" {
		return fmt.Errorf("%w: it holds no gold answers: say --gold FILE", errNeedsMore)
	}
	if o.Result == nil && s.graph == nil && len(s.flags.results) == 0 {
		return fmt.Errorf("%w: it holds queries without their rows: say --results FILE, --kg NAME or --data FILE to get them from", errNeedsMore)
	}
	i, ok := s.goldAt[o.ID]
	if !ok || o.ID == "" {
		i, ok = s.goldBy[o.Question]
	}
	if ok {
		g := &s.gold[i]
		if o.Language == "" {
			o.Language = g.Language
		}
		if o.Gold == "" {
			o.Gold = g.SPARQL
		}
		if o.GoldResult == nil && len(g.Answers) > 0 {
			o.GoldResult = g.Answers
		}
	}
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

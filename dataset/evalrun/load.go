package evalrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
)

// Score is an item's score by a metric. F1 and EM are from 0 to 1.
type Score struct {
	Metric string  `json:"metric"`
	F1     float64 `json:"f1"`
	EM     float64 `json:"em"`
	Upper  float64 `json:"f1_upper,omitempty"` // upper bound of F1 if scoring ran out of time or memory, otherwise 0
}

// Scorer scores an item whose gold query returned a nonempty result. The metrics are in the same order for every item.
// All metrics score a missing answer as 0.
type Scorer func(ctx context.Context, r *Result) ([]Score, error)

// RunData is a run read from its folder.
type RunData struct {
	Dir    string
	Name   string // the folder's name, for tables
	Info   RunInfo
	Items  []ItemData // in the benchmark's order
	byID   map[string]int
	Metric []string // metric names, in the scorer's order
	// NotAsked is the number of chosen items not yet done when the run last stopped.
	NotAsked int
}

// ItemData is an item with its scores. Scores is nil for an item not included in averages.
type ItemData struct {
	Result
	Meta   Meta
	Scores []Score
}

// Score returns the item's score by the metric; ok is false if the item is not included in averages.
func (i *ItemData) Score(metric string) (s Score, ok bool) {
	for _, s := range i.Scores {
		if s.Metric == metric {
			return s, true
		}
	}
	return Score{}, false
}

// Item returns the item with the given ID, or nil if there is none.
func (r *RunData) Item(id string) *ItemData {
	if i, ok := r.byID[id]; ok {
		return &r.Items[i]
	}
	return nil
}

// Load reads a run's folder and scores its items.
func Load(ctx context.Context, dir string, score Scorer) (*RunData, error) {
	d := folder(dir)
	r := &RunData{Dir: dir, Name: filepath.Base(filepath.Clean(dir)), byID: map[string]int{}}
	if found, err := d.readJSON(&r.Info, RunFile); err != nil {
		return nil, err
	} else if !found {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s has no run (there is no %s in it); runs are made with eval run --out", dir, RunFile)
	}
	err := readLines(d.path(ResultsFile), func(_ int, text []byte) error {
		var it ItemData
		if err := json.Unmarshal(text, &it.Result); err != nil {
			return err
		}
		if it.Schema != Schema {
			return fmt.Errorf("schema %d; this program reads %d", it.Schema, Schema)
		}
		r.byID[it.ID] = len(r.Items)
		r.Items = append(r.Items, it)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has a run that was cut off before its results were assembled; start it again with the same settings", dir)
	}
	if err == nil {
		err = readLines(d.path(MetaFile), func(_ int, text []byte) error {
			var m Meta
			if err := json.Unmarshal(text, &m); err != nil {
				return err
			}
			if it := r.Item(m.ID); it != nil {
				it.Meta = m
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	var last Summary // a missing or damaged summary is ignored
	if ok, err := d.readJSON(&last, SummaryFile); ok && err == nil {
		r.NotAsked = last.Missing
	}
	return r, r.score(ctx, score)
}

func (r *RunData) score(ctx context.Context, score Scorer) error {
	for i := range r.Items {
		it := &r.Items[i]
		if !it.Scorable() {
			continue
		}
		scores, err := score(ctx, &it.Result)
		if err != nil {
			return fmt.Errorf("%s: item %s cannot be scored: %w", r.Dir, it.ID, err)
		}
		if it.Scores = scores; r.Metric == nil {
			for _, s := range scores {
				r.Metric = append(r.Metric, s.Metric)
			}
		}
	}
	return nil
}

// Trajectory reads an item's trajectory. If the file is truncated, it returns only the complete events.
func (r *RunData) Trajectory(it *ItemData) ([]agent.Event, error) {
	if it.Meta.Trajectory == "" {
		return nil, nil
	}
	// The name is derived from the ID, since the path in the meta file is not trusted.
	events, _, err := folder(r.Dir).events(it.ID)
	if err != nil && !errors.Is(err, event.ErrTorn) {
		return nil, err
	}
	return events, nil
}

// assemble creates results.jsonl, meta.jsonl, and summary.json from the other files in the folder.
func (r *runner) assemble(ctx context.Context) (*Summary, error) {
	var results, metas bytes.Buffer
	for _, it := range r.Items {
		k, err := r.load(it)
		if err != nil {
			return nil, err
		}
		if k.item == nil {
			continue
		}
		res := Result{Schema: Schema, ID: it.ID, Question: it.Question, SPARQL: k.item.SPARQL, Result: k.item.Result,
			GoldSPARQL: it.SPARQL, Gold: rawResult("null"),
			Answered: k.item.Answered, Reason: k.item.Reason, Error: k.item.Error, Steps: k.item.Steps,
			Confidence: k.item.Confidence}
		meta := k.item.Meta
		meta.ID, meta.Schema = it.ID, Schema
		if k.gold == nil {
			k.gold = &goldFile{Error: &Failure{}} // the graph service failed; the next session runs the query again
		} else {
			meta.Gold = &k.gold.GoldMeta
		}
		if res.GoldError = k.gold.goldFailure(); len(k.gold.Result) > 0 {
			res.Gold = k.gold.Result
		}
		if err := errors.Join(encode(&results, res, ""), encode(&metas, meta, "")); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(r.dir.write(metas.Bytes(), MetaFile), r.dir.write(results.Bytes(), ResultsFile)); err != nil {
		return nil, err
	}
	data, err := Load(ctx, r.Dir, r.Score)
	if err != nil {
		return nil, err
	}
	if err := r.writeForms(data); err != nil {
		return nil, err
	}
	sum := data.Summary()
	sum.Missing = r.tally.Items - r.tally.Done
	if err := r.dir.writeJSON(sum, SummaryFile); err != nil {
		return sum, err
	}
	if err := os.Remove(r.dir.path(WatchFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	return sum, nil
}

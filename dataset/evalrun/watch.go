package evalrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
)

// WatchFile is the file that a run in progress writes for users watching it. It is removed when the run has assembled
// its files.
const WatchFile = "progress.json"

// Watched is a run that users can view, whether or not it is still in progress.
type Watched struct {
	Name     string        `json:"name"` // of the folder
	Info     RunInfo       `json:"-"`
	Progress Progress      `json:"progress"`
	Working  bool          `json:"-"` // the run is in progress or was cut off, so its files are not assembled
	Metrics  []string      `json:"metrics"`
	Items    []WatchedItem `json:"items"` // items that are done
}

// WatchedItem is a finished item.
type WatchedItem struct {
	ID       string   `json:"id"`
	File     string   `json:"file"` // name of its files in the run's folder, without extension
	Question string   `json:"question"`
	Answered bool     `json:"answered"`
	Reason   string   `json:"reason,omitempty"`
	Failed   string   `json:"failed,omitempty"` // kind of service failure
	Excluded string   `json:"excluded,omitempty"`
	Scores   []Score  `json:"scores,omitempty"`
	Class    Class    `json:"class,omitempty"` // class of its error by the first metric, according to rules, or ""
	Why      string   `json:"why,omitempty"`
	Features []string `json:"features,omitempty"` // of the gold query
	Steps    int      `json:"steps"`
	USD      float64  `json:"usd"`
	MS       int64    `json:"ms"`

	Confidence float64 `json:"confidence"`
}

// State is like [ItemData.State].
func (w *WatchedItem) State(metric string) (state, word string) {
	it := ItemData{Result: Result{Answered: w.Answered}, Scores: w.Scores}
	if w.Failed != "" {
		it.Error = &Failure{Kind: w.Failed}
	}
	if state, word = it.State(metric); state == "unscored" {
		word = w.Excluded
	}
	return state, word
}

// Score is like [ItemData.Score].
func (w *WatchedItem) Score(metric string) (Score, bool) {
	return (&ItemData{Scores: w.Scores}).Score(metric)
}

// StepBin returns the bin for the item's number of steps.
func (w *WatchedItem) StepBin() string { return stepBin(w.Steps) }

// StepBins returns the bins, smallest first.
func StepBins() []string { return slices.Clone(stepBins) }

// watching is the data that a run keeps for users watching it.
type watching struct {
	items   map[string]WatchedItem
	written time.Time
}

// see records a finished item. The score is only for users watching, so a scoring failure is ignored; it will recur
// when the files are assembled.
func (r *runner) see(ctx context.Context, it dataset.Item, k known) {
	gold := k.gold
	if gold == nil {
		gold = &goldFile{Error: &Failure{}}
	}
	d := ItemData{Result: Result{Schema: Schema, ID: it.ID, Question: it.Question, SPARQL: k.item.SPARQL,
		Result: k.item.Result, GoldSPARQL: it.SPARQL, Gold: gold.Result, GoldError: gold.goldFailure(),
		Answered: k.item.Answered, Reason: k.item.Reason, Error: k.item.Error, Steps: k.item.Steps,
		Confidence: k.item.Confidence}, Meta: k.item.Meta}
	if d.Scorable() && r.Score != nil {
		d.Scores, _ = r.Score(ctx, &d.Result)
	}
	w := r.dir.watchedItem(&d)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watch.items == nil {
		r.watch.items = map[string]WatchedItem{}
	}
	r.watch.items[it.ID] = w
}

// watchedItem returns an item in the form shown to users. Its error class is determined by rules.
func (d folder) watchedItem(it *ItemData) WatchedItem {
	w := WatchedItem{ID: it.ID, File: FileName(it.ID), Question: it.Question, Answered: it.Answered, Reason: it.Reason,
		Excluded: it.excluded(), Scores: it.Scores, Steps: it.Steps, USD: it.Meta.Usage.USD + it.Meta.Lost.USD,
		MS: it.Meta.MS, Confidence: it.Confidence, Features: factsOf(it.GoldSPARQL).features}
	if it.Error != nil {
		w.Failed = it.Error.Kind
	}
	if len(it.Scores) > 0 && it.Scores[0].F1 < 1 {
		run := &RunData{Dir: string(d)}
		events, err := run.Trajectory(it)
		if err == nil {
			if v, ok := Classify(it, it.Scores[0].Metric, event.Steps(events)); ok {
				w.Class, w.Why = v.Class, v.Why
			}
		}
	}
	return w
}

// pause is the minimum time between writes of a watch file with many items.
const (
	pause = time.Second
	many  = 500
)

// watched writes the watch file. r.mu must be held.
func (r *runner) watched(always bool) {
	now := r.Now()
	if !always && len(r.watch.items) > many && now.Sub(r.watch.written) < pause {
		return
	}
	r.watch.written = now
	w := Watched{Name: filepath.Base(string(r.dir)), Progress: r.tally, Items: []WatchedItem{}}
	for _, it := range r.Items {
		if seen, ok := r.watch.items[it.ID]; ok {
			w.Items = append(w.Items, seen)
			if w.Metrics == nil {
				for _, s := range seen.Scores {
					w.Metrics = append(w.Metrics, s.Metric)
				}
			}
		}
	}
	if err := r.dir.writeJSON(w, WatchFile); err != nil {
		r.Log.Warn("the watch file is out of date", "error", err)
	}
}

// Watch reads a run for users browsing it, even while it is in progress.
func Watch(ctx context.Context, dir string) (*Watched, error) {
	d := folder(dir)
	var w Watched
	working, err := d.readJSON(&w, WatchFile)
	if err != nil {
		return nil, err
	}
	if working {
		w.Working = true
		_, err := d.readJSON(&w.Info, RunFile)
		return &w, err
	}
	r, err := Load(ctx, dir, Metrics)
	if err != nil {
		return nil, err
	}
	w = Watched{Name: r.Name, Info: r.Info, Metrics: r.Metric,
		Progress: Progress{Items: len(r.Items) + r.NotAsked, Done: len(r.Items)}}
	for i := range r.Items {
		it := &r.Items[i]
		w.Items = append(w.Items, d.watchedItem(it))
		w.Progress.Cost.Add(it.Meta.Usage)
		w.Progress.Cost.Add(it.Meta.Lost)
		if it.Answered {
			w.Progress.Answered++
		}
		if it.Error != nil {
			w.Progress.Failed++
		}
	}
	return &w, nil
}

// IsRun reports whether a folder contains a run.
func IsRun(dir string) bool {
	st, err := os.Stat(filepath.Join(dir, RunFile))
	return err == nil && st.Mode().IsRegular()
}

// Changed returns the time of the last change to the run, or the zero time if the folder contains no run.
func Changed(dir string) (at time.Time) {
	for _, name := range []string{RunFile, WatchFile, ResultsFile} {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.ModTime().After(at) {
			at = st.ModTime()
		}
	}
	return at
}

// ItemOf reads an item of a run by file name, with its scores if the run's files are assembled. The error is an
// [fs.ErrNotExist] if there is no such item.
func ItemOf(ctx context.Context, dir, file string) (*ItemData, error) {
	if file != filepath.Base(file) || strings.HasPrefix(file, ".") {
		return nil, fs.ErrNotExist
	}
	r, err := Load(ctx, dir, Metrics)
	if err == nil {
		for i := range r.Items {
			if FileName(r.Items[i].ID) == file {
				return &r.Items[i], nil
			}
		}
	}
	var k itemFile // the run is in progress; read the parts of the item that exist
	if ok, err := folder(dir).readJSON(&k, itemsDir, file+".json"); err != nil || !ok {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	it := &ItemData{Result: Result{ID: k.ID, SPARQL: k.SPARQL, Result: k.Result, Answered: k.Answered, Reason: k.Reason,
		Error: k.Error, Steps: k.Steps, Confidence: k.Confidence}, Meta: k.Meta}
	it.Meta.ID = k.ID
	return it, nil
}

// Info reads a run's settings.
func Info(dir string) (*RunInfo, error) {
	var info RunInfo
	if ok, err := folder(dir).readJSON(&info, RunFile); err != nil || !ok {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	return &info, nil
}

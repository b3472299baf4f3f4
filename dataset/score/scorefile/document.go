package scorefile

import (
	"cmp"
	"math"
	"strconv"

	"github.com/spinachbot/spinachbot/dataset/score"
)

// Document is the report on one file. The fields of Mean are for the requested measure: spinach if all are requested,
// grasp for a file that contains only GRASP's scores, and kbqa for a file of values.
type Document struct {
	File   string       `json:"file"`
	Format score.Format `json:"format"`
	Metric string       `json:"metric"`
	score.Mean
	Metrics  map[score.Metric]score.Mean `json:"metrics,omitempty"` // if all are requested
	Groups   map[string][]Group          `json:"groups"`
	Excluded map[string][]string         `json:"excluded"`         // by reason: IDs of items excluded from all means
	Failed   []Remark                    `json:"failed,omitempty"` // items with a service failure
	Odd      []Remark                    `json:"unreadable,omitempty"`
	Missing  []string                    `json:"missing,omitempty"`
	// items that have several best pairings with different scores
	Differ    []int               `json:"scipy_may_differ,omitempty"`
	Stored    *Stored             `json:"stored,omitempty"` // comparison with the F1 in the file, if any
	Dialogues *score.DialogueMean `json:"dialogues,omitempty"`
	Items     []Item              `json:"items"`

	Main score.Metric `json:"-"` // the measure of Mean
}

// Stored compares the F1 stored in the file with that of the spinach measure.
type Stored struct {
	N      int   `json:"n"`
	Differ []int `json:"differ"` // positions of items
}

// Remark is the reason why an item is excluded from all means.
type Remark struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Group contains the mean over the items in a group.
type Group struct {
	Group string `json:"group"`
	score.Mean
	Metrics map[score.Metric]score.Mean `json:"metrics,omitempty"`
}

// Item is the score of one item. Undefined values are null.
type Item struct {
	I  int    `json:"i"`
	ID string `json:"id,omitempty"`
	Values
	Excluded string                  `json:"excluded,omitempty"`
	Failed   string                  `json:"failed,omitempty"`
	Metrics  map[score.Metric]Values `json:"metrics,omitempty"`
}

func (it *Item) key() string { return itemKey(it.ID, it.I) }

// itemKey returns the name of an item: its ID, or #1, #2 and so on if it has none.
func itemKey(id string, index int) string { return cmp.Or(id, "#"+strconv.Itoa(index+1)) }

// Values are the values of one measure for an item.
type Values struct {
	F1    *float64    `json:"f1"`
	EM    *int        `json:"em"`
	Upper *float64    `json:"f1_upper,omitempty"`         // set if time or memory ran out, so F1 is only a lower bound
	Other *[2]float64 `json:"scipy_may_differ,omitempty"` // lowest and highest scores among the best pairings
	Notes []string    `json:"notes,omitempty"`
	*score.SetMean
}

func valuesOf(s *score.Scores, m score.Metric) (v Values) {
	if m == score.MetricKBQA {
		v.SetMean = s.KBQA.Values()
	}
	f1, em, ok := s.F1EM(m)
	if !ok {
		return v
	}
	v.F1 = &f1
	e := int(em)
	v.EM = &e
	if r := s.Row(m); r != nil {
		if r.Upper > r.F1 {
			v.Upper = &r.Upper
		}
		if r.Lowest < r.F1 {
			v.Other = &[2]float64{r.Lowest, r.F1}
		}
		v.Notes = r.Notes
	}
	return v
}

func (s *Scorer) document(name string, format score.Format, f *scoredFile) *Document {
	d := &Document{
		File: name, Format: format, Metric: s.Name, Groups: map[string][]Group{}, Excluded: map[string][]string{},
		Missing: f.missing, Odd: f.odd,
		Dialogues: score.DialoguesMean(f.dialogues), Main: s.Metrics[0],
	}
	metrics := s.Metrics
	switch {
	case format == score.GRASPEvaluation:
		metrics = []score.Metric{score.MetricGRASP}
	case format == score.Dialogues:
		metrics = []score.Metric{score.MetricKBQA}
	}
	d.Main = metrics[0]
	all := len(metrics) > 1
	d.Mean = score.MeanOf(f.items, d.Main)
	if all {
		d.Metrics = map[score.Metric]score.Mean{}
		for _, m := range metrics {
			d.Metrics[m] = score.MeanOf(f.items, m)
		}
	}
	for _, by := range Groupings {
		for _, g := range score.GroupsBy(f.items, by.By, by.Order, metrics) {
			sg := Group{Group: g.Name, Mean: g.Means[d.Main]}
			if all {
				sg.Metrics = g.Means
			}
			d.Groups[by.By] = append(d.Groups[by.By], sg)
		}
	}
	d.Stored = compareStored(f)
	for i := range f.items {
		d.item(&f.items[i], metrics, all)
	}
	return d
}

// compareStored checks whether the scores in the file can be reproduced. It returns nil if the file has no scores or
// the measure was not requested.
func compareStored(f *scoredFile) *Stored {
	s := &Stored{Differ: []int{}}
	for i := range f.items {
		it := &f.items[i]
		f1, _, ok := it.Scores.F1EM(score.MetricSpinach)
		stored, has := f.stored[it.Index]
		if !ok || !has {
			continue
		}
		s.N++
		if math.Abs(f1-stored) > 1e-6 {
			s.Differ = append(s.Differ, it.Index)
		}
	}
	if s.N == 0 {
		return nil
	}
	return s
}

func (d *Document) item(it *score.Scored, metrics []score.Metric, all bool) {
	out := Item{I: it.Index, ID: it.ID, Excluded: it.Excluded, Failed: it.Failure}
	if it.Failure != "" || it.Excluded != "" {
		out.Values = valuesOf(&score.Scores{}, d.Main)
	} else {
		out.Values = valuesOf(&it.Scores, d.Main)
		if r := it.Scores.Row(d.Main); r != nil {
			out.Excluded = r.Undefined
		} else if it.Scores.KBQA != nil {
			out.Excluded = it.Scores.KBQA.Undefined
		}
		if all {
			out.Metrics = map[score.Metric]Values{}
			for _, m := range metrics {
				out.Metrics[m] = valuesOf(&it.Scores, m)
			}
		}
	}
	id := out.key()
	switch {
	case it.Failure != "":
		d.Failed = append(d.Failed, Remark{id, it.Failure})
	case out.Excluded != "":
		d.Excluded[out.Excluded] = append(d.Excluded[out.Excluded], id)
	}
	if r := it.Scores.Spinach; r != nil && r.Lowest < r.F1 {
		d.Differ = append(d.Differ, it.Index)
	}
	d.Items = append(d.Items, out)
}

// Best combines the scores of several files, over the items that are scored in all of them.
type Best struct {
	K     int         `json:"k"`
	N     int         `json:"n"`
	Max   float64     `json:"max_at_k"`   // mean of the best F1
	Empty float64     `json:"empty_at_k"` // share of items on which all files score 0
	Files []*Document `json:"files"`
}

// BestOf matches the items of several files by ID, or by position if they have none.
func BestOf(docs []*Document) *Best {
	b := &Best{K: len(docs), Files: docs}
	values := make([]map[string]float64, len(docs))
	for i, d := range docs {
		values[i] = map[string]float64{}
		for _, it := range d.Items {
			if it.F1 != nil {
				values[i][it.key()] = *it.F1
			}
		}
	}
	f1 := make([][]float64, len(docs))
	for _, it := range docs[0].Items {
		row := make([]float64, 0, len(docs))
		for _, v := range values {
			if f, ok := v[it.key()]; ok {
				row = append(row, f)
			}
		}
		if len(row) < len(docs) {
			continue
		}
		delete(values[0], it.key()) // use each ID only once
		for i, f := range row {
			f1[i] = append(f1[i], f)
		}
	}
	if b.N = len(f1[0]); b.N > 0 {
		b.Max, b.Empty = score.BestOf(f1)
	}
	return b
}

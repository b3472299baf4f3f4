package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/dataset/score"
)

// scoreDoc is what eval score says of one file. The members of Mean are by the measure asked for, by spinach for all (grasp for a file that has its scores only, kbqa for one of values).
type scoreDoc struct {
	File   string       `json:"file"`
	Format score.Format `json:"format"`
	Metric string       `json:"metric"`
	score.Mean
	Metrics   map[score.Metric]score.Mean `json:"metrics,omitempty"` // with all
	Groups    map[string][]scoreGroup     `json:"groups"`
	Excluded  map[string][]string         `json:"excluded"`         // by reason: ids of items in no mean
	Failed    []itemRemark                `json:"failed,omitempty"` // items that a service failed
	Odd       []itemRemark                `json:"unreadable,omitempty"`
	Missing   []string                    `json:"missing,omitempty"`
	Differ    []int                       `json:"scipy_may_differ,omitempty"` // items on which another best pairing gives another score
	Stored    *storedScores               `json:"stored,omitempty"`           // F1 that the file holds, where it does
	Dialogues *score.DialogueMean         `json:"dialogues,omitempty"`
	Items     []scoreItem                 `json:"items"`

	main score.Metric
}

// storedScores compares the file's own F1 with that of the measure spinach.
type storedScores struct {
	N      int   `json:"n"`
	Differ []int `json:"differ"` // positions
}

// itemRemark says why an item is in no mean.
type itemRemark struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// scoreGroup is the mean over a group.
type scoreGroup struct {
	Group string `json:"group"`
	score.Mean
	Metrics map[score.Metric]score.Mean `json:"metrics,omitempty"`
}

// scoreItem is the score of one item. What is undefined is null.
type scoreItem struct {
	I  int    `json:"i"`
	ID string `json:"id,omitempty"`
	scoreValues
	Excluded string                       `json:"excluded,omitempty"`
	Failed   string                       `json:"failed,omitempty"`
	Metrics  map[score.Metric]scoreValues `json:"metrics,omitempty"`
}

// key names the item: by its id, or its position where it has none.
func (it *scoreItem) key() string { return cmp.Or(it.ID, fmt.Sprint(it.I)) }

// scoreValues are an item's values by one measure.
type scoreValues struct {
	F1    *float64    `json:"f1"`
	EM    *int        `json:"em"`
	Upper *float64    `json:"f1_upper,omitempty"`         // F1 is a lower limit: time or memory ran out
	Other *[2]float64 `json:"scipy_may_differ,omitempty"` // lowest and highest score of best pairings
	Notes []string    `json:"notes,omitempty"`
	*score.SetMean
}

func valuesOf(s *score.Scores, m score.Metric) (v scoreValues) {
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

// document sums a file up.
func (s *scorer) document(name string, format score.Format, f *scoredFile) *scoreDoc {
	d := &scoreDoc{
		File: name, Format: format, Metric: s.flags.metric, Groups: map[string][]scoreGroup{}, Excluded: map[string][]string{}, Missing: f.missing, Odd: f.odd,
		Dialogues: score.DialoguesMean(f.dialogues), main: s.metrics[0],
	}
	metrics := s.metrics
	switch {
	case format == score.GRASPEvaluation:
		metrics = []score.Metric{score.MetricGRASP}
	case format == score.Dialogues:
		metrics = []score.Metric{score.MetricKBQA}
	}
	d.main = metrics[0]
	all := len(metrics) > 1
	d.Mean = score.MeanOf(f.items, d.main)
	if all {
		d.Metrics = map[score.Metric]score.Mean{}
		for _, m := range metrics {
			d.Metrics[m] = score.MeanOf(f.items, m)
		}
	}
	for _, by := range scoreGroupings {
		for _, g := range score.GroupsBy(f.items, by.by, by.order, metrics) {
			sg := scoreGroup{Group: g.Name, Mean: g.Means[d.main]}
			if all {
				sg.Metrics = g.Means
			}
			d.Groups[by.by] = append(d.Groups[by.by], sg)
		}
	}
	d.Stored = compareStored(f)
	for i := range f.items {
		d.item(&f.items[i], metrics, all)
	}
	return d
}

// compareStored looks whether the scores in the file can be reproduced; nil when it has none, or the measure was not asked for.
func compareStored(f *scoredFile) *storedScores {
	s := &storedScores{Differ: []int{}}
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

func (d *scoreDoc) item(it *score.Scored, metrics []score.Metric, all bool) {
	out := scoreItem{I: it.Index, ID: it.ID, Excluded: it.Excluded, Failed: it.Failure}
	if it.Failure != "" || it.Excluded != "" {
		out.scoreValues = valuesOf(&score.Scores{}, d.main)
	} else {
		out.scoreValues = valuesOf(&it.Scores, d.main)
		if r := it.Scores.Row(d.main); r != nil {
			out.Excluded = r.Undefined
		} else if it.Scores.KBQA != nil {
			out.Excluded = it.Scores.KBQA.Undefined
		}
		if all {
			out.Metrics = map[score.Metric]scoreValues{}
			for _, m := range metrics {
				out.Metrics[m] = valuesOf(&it.Scores, m)
			}
		}
	}
	id := out.key()
	switch {
	case it.Failure != "":
		d.Failed = append(d.Failed, itemRemark{id, it.Failure})
	case out.Excluded != "":
		d.Excluded[out.Excluded] = append(d.Excluded[out.Excluded], id)
	}
	if r := it.Scores.Spinach; r != nil && r.Lowest < r.F1 {
		d.Differ = append(d.Differ, it.Index)
	}
	d.Items = append(d.Items, out)
}

// share writes a mean as the field's tables do, in per cent; a dash for none.
func share(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100**v)
}

// meansOf gives the means by measure.
func meansOf(all map[score.Metric]score.Mean, only score.Mean, main score.Metric) map[score.Metric]score.Mean {
	if all != nil {
		return all
	}
	return map[score.Metric]score.Mean{main: only}
}

// text prints a document for people.
func (d *scoreDoc) text(w io.Writer, metrics []score.Metric) {
	fmt.Fprintf(w, "%s: %d items (%s)\n\n", inLine(d.File), len(d.Items), d.Format)
	if d.Metrics == nil {
		metrics = []score.Metric{d.main}
	}
	means := meansOf(d.Metrics, d.Mean, d.main)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "measure\tn\tF1\tEM\t\n")
	for _, m := range metrics {
		v := means[m]
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t\n", m, v.N, share(v.F1), share(v.EM))
		if v.WithFailures != nil {
			fmt.Fprintf(tw, "%s, %d failed as 0\t%d\t%s\t%s\t\n", m, v.WithFailures.N-v.N, v.WithFailures.N, share(v.WithFailures.F1), share(v.WithFailures.EM))
		}
		if v.Upper != nil {
			fmt.Fprintf(tw, "%s, at most\t%d\t%s\t\t\n", m, v.N, share(v.Upper))
		}
	}
	_ = tw.Flush() // a closed standard output ends the program
	if k := means[score.MetricKBQA]; k.SetMean != nil && k.N > 0 {
		fmt.Fprintf(w, "\nkbqa: precision %.2f, recall %.2f, RHits@1 %.2f, Hits@1 %.2f, Hits@5 %.2f, Hits@10 %.2f, hit with aliases %.2f, accuracy %.2f (first elements %.2f)\n", 100*k.Precision,
			100*k.Recall, 100*k.RHits1, 100*k.Hits1, 100*k.Hits5, 100*k.Hits10, 100*k.Hit, 100*k.Acc, 100*k.AccFirst)
	}
	if g := d.Dialogues; g != nil {
		fmt.Fprintf(w, "\n%d dialogues: %.2f %% finished, %.2f turns; entity linking P %.2f, R %.2f, F1 %.2f; mention cover rate %.2f\n", g.N, 100*g.Finished, g.Turns, 100*g.Precision,
			100*g.Recall, 100*g.F1, 100*g.Mentioned)
	}
	for _, by := range scoreGroupings {
		if groups := d.Groups[by.by]; len(groups) > 0 {
			groupTable(w, by.by, groups, metrics, d.main)
		}
	}
	d.remarks(w)
}

func groupTable(w io.Writer, by string, groups []scoreGroup, metrics []score.Metric, main score.Metric) {
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "%s\tn\t", by)
	for _, m := range metrics {
		fmt.Fprintf(tw, "%s F1\tEM\t", m)
	}
	fmt.Fprintln(tw)
	for _, g := range groups {
		means := meansOf(g.Metrics, g.Mean, main)
		fmt.Fprintf(tw, "%s\t%d\t", inLine(g.Group), g.N)
		for _, m := range metrics {
			fmt.Fprintf(tw, "%s\t%s\t", share(means[m].F1), share(means[m].EM))
		}
		fmt.Fprintln(tw)
	}
	_ = tw.Flush()
}

// maxRemarks is how many items are told of in detail.
const maxRemarks = 5

// remarks lists what is in no mean and what is uncertain.
func (d *scoreDoc) remarks(w io.Writer) {
	reasons := make([]string, 0, len(d.Excluded))
	for r := range d.Excluded {
		reasons = append(reasons, r)
	}
	slices.Sort(reasons)
	if len(reasons)+len(d.Failed)+len(d.Missing)+len(d.Differ) > 0 || d.Stored != nil {
		fmt.Fprintln(w)
	}
	if d.Stored != nil {
		fmt.Fprintf(w, "stored in the file: %d of %d F1 values agree with spinach\n", d.Stored.N-len(d.Stored.Differ), d.Stored.N)
		if len(d.Stored.Differ) > 0 {
			fmt.Fprintf(w, "others: %s\n", someIDs(positions(d.Stored.Differ)))
		}
	}
	for _, r := range reasons {
		fmt.Fprintf(w, "in no mean, %s: %s\n", inLine(r), someIDs(d.Excluded[r]))
	}
	for i, o := range d.Odd {
		if i == maxRemarks {
			fmt.Fprintf(w, "and %d more\n", len(d.Odd)-i)
			break
		}
		fmt.Fprintf(w, "item %s: %s\n", inLine(o.ID), inLine(o.Why))
	}
	if len(d.Failed) > 0 {
		ids := make([]string, len(d.Failed))
		for i, f := range d.Failed {
			ids[i] = f.ID
		}
		fmt.Fprintf(w, "in no mean, a service failed (first: %s): %s\n", inLine(d.Failed[0].Why), someIDs(ids))
	}
	if len(d.Missing) > 0 {
		fmt.Fprintf(w, "items of the benchmark without an output: %s\n", someIDs(d.Missing))
	}
	if len(d.Differ) > 0 {
		fmt.Fprintf(w, "several best pairings, scores of programs that take another one (SciPy's) may be lower on item: %s\n", someIDs(positions(d.Differ)))
	}
}

// inLine makes text from outside harmless in a line of a table.
func inLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

func positions(list []int) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = fmt.Sprint(n)
	}
	return out
}

// someIDs counts ids and names the first.
func someIDs(ids []string) string {
	const most = 10
	out := fmt.Sprintf("%d: ", len(ids)) + inLine(strings.Join(ids[:min(len(ids), most)], ", "))
	if len(ids) > most {
		out += ", …"
	}
	return out
}

// bestDoc combines several files over the items that all of them score.
type bestDoc struct {
	K     int         `json:"k"`
	N     int         `json:"n"`
	Max   float64     `json:"max_at_k"`   // mean of the best F1
	Empty float64     `json:"empty_at_k"` // share of items on which all score 0
	Files []*scoreDoc `json:"files"`
}

// best matches the items of several files by id, or by position where they have none.
func (s *scorer) best(docs []*scoreDoc) *bestDoc {
	b := &bestDoc{K: len(docs), Files: docs}
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
		delete(values[0], it.key()) // an id that stands twice counts once
		for i, f := range row {
			f1[i] = append(f1[i], f)
		}
	}
	if b.N = len(f1[0]); b.N > 0 {
		b.Max, b.Empty = score.BestOf(f1)
	}
	return b
}

func (b *bestDoc) text(w io.Writer) {
	fmt.Fprintf(w, "\nbest of %d files on %d common items: max@%d %.2f, empty@%d %.2f\n", b.K, b.N, b.K, 100*b.Max, b.K, 100*b.Empty)
}

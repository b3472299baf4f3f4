package score

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// Scored is one item with its scores.
type Scored struct {
	Index  int
	ID     string
	Scores Scores
	// Failure describes a failure of a service rather than of the system. Excluded is the reason why the item cannot be
	// scored. An item with either is excluded from all means.
	Failure, Excluded string
	// Groups contains the names of the item's groups, by grouping, such as select under form, and path and filter under
	// feature.
	Groups map[string][]string
}

// Mean contains the means of one measure over some items. Fields that are undefined or do not belong to this measure
// are nil. Values range from 0 to 1.
type Mean struct {
	N  int      `json:"n"`
	F1 *float64 `json:"f1"`
	EM *float64 `json:"em"`
	// Upper is the mean of the upper bounds, if the pairing of some item ran out of time or memory.
	Upper *float64 `json:"f1_upper,omitempty"`
	// Lowest is the mean for the worst choice among the best pairings, if the choice affects any item's score.
	Lowest *float64 `json:"f1_lowest,omitempty"`
	*SetMean
	// WithFailures scores service failures as 0; nil if there were no such failures.
	WithFailures *Mean `json:"with_failures,omitempty"`
}

// Share is a number from 0 to 1, or NaN if undefined, which is null in JSON.
type Share float64

// Undefined is the share of an empty set.
func Undefined() Share { return Share(math.NaN()) }

// MarshalJSON writes a number or null.
func (s Share) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(s)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// SetMean contains the means of the set measures, or the values of one item; see [SetScore].
type SetMean struct {
	Precision Share `json:"precision"`
	Recall    Share `json:"recall"`
	RHits1    Share `json:"rhits1"`
	Hits1     Share `json:"hits1"`
	Hits5     Share `json:"hits5"`
	Hits10    Share `json:"hits10"`
	Hit       Share `json:"hit"`
	Acc       Share `json:"acc"`
	AccFirst  Share `json:"acc_first"`
}

func (m *SetMean) add(s *SetScore, share float64) {
	one := s.values()
	for i, f := range m.fields() {
		*f += Share(share) * *one.fields()[i]
	}
}

func (m *SetMean) fields() [9]*Share {
	return [9]*Share{&m.Precision, &m.Recall, &m.RHits1, &m.Hits1, &m.Hits5, &m.Hits10, &m.Hit, &m.Acc, &m.AccFirst}
}

func undefinedSets() *SetMean {
	m := &SetMean{}
	for _, f := range m.fields() {
		*f = Undefined()
	}
	return m
}

func (s *SetScore) values() *SetMean {
	b := func(ok bool) Share { return Share(number01(ok)) }
	return &SetMean{
		Precision: Share(s.Precision), Recall: Share(s.Recall), RHits1: Share(s.RHits1), Hits1: b(s.Hits1),
		Hits5: b(s.Hits5), Hits10: b(s.Hits10), Hit: b(s.Hit), Acc: b(s.Acc),
		AccFirst: b(s.AccFirst),
	}
}

// Values returns the measures as numbers; all are undefined if there is no score.
func (s *SetScore) Values() *SetMean {
	if s == nil || s.Undefined != "" {
		return undefinedSets()
	}
	return s.values()
}

// MeanOf averages one measure over items. Items whose gold answer is missing or empty are excluded.
func MeanOf(items []Scored, m Metric) Mean {
	var in []*Scored
	failed := 0
	for i := range items {
		it := &items[i]
		_, _, ok := it.Scores.F1EM(m)
		switch {
		case !ok || it.Excluded != "":
		case it.Failure != "":
			failed++
		default:
			in = append(in, it)
		}
	}
	out := Mean{N: len(in)}
	if m == MetricKBQA && len(in) == 0 {
		out.SetMean = undefinedSets()
	}
	f1, em := 0.0, 0.0
	if len(in) > 0 {
		share := 1 / float64(len(in))
		upper, lowest := 0.0, 0.0
		if m == MetricKBQA {
			out.SetMean = &SetMean{}
		}
		for _, it := range in {
			f, e, _ := it.Scores.F1EM(m)
			f1, em = f1+f, em+e
			if r := it.Scores.Row(m); r != nil {
				upper, lowest = upper+r.Upper, lowest+r.Lowest
			} else {
				out.add(it.Scores.KBQA, share)
				upper, lowest = upper+f, lowest+f
			}
		}
		out.F1, out.EM = mean(f1, len(in)), mean(em, len(in))
		if upper > f1 {
			out.Upper = mean(upper, len(in))
		}
		if lowest < f1 {
			out.Lowest = mean(lowest, len(in))
		}
	}
	if failed > 0 {
		n := len(in) + failed
		out.WithFailures = &Mean{N: n, F1: mean(f1, n), EM: mean(em, n)}
	}
	return out
}

func mean(sum float64, n int) *float64 {
	m := sum / float64(n)
	return &m
}

// Group contains the mean over the items in a group.
type Group struct {
	Name  string          `json:"group"`
	Means map[Metric]Mean `json:"means"`
}

// GroupsBy averages the items in each group of one grouping. It returns the groups in names first, in that order, and
// then the others by name.
func GroupsBy(items []Scored, by string, names []string, metrics []Metric) []Group {
	members := map[string][]Scored{}
	for _, it := range items {
		for _, g := range it.Groups[by] {
			members[g] = append(members[g], it)
		}
	}
	var out []Group
	for name, list := range members {
		g := Group{Name: name, Means: map[Metric]Mean{}}
		for _, m := range metrics {
			g.Means[m] = MeanOf(list, m)
		}
		out = append(out, g)
	}
	place := func(name string) int {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
		return len(names)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// BestOf combines runs over the same items: maximum is the mean over items of the best F1 of any run (Max@k in
// MCTS-KBQA, for k runs or branches), and empty is the share of items on which all runs score 0 (Empty@k). f1[r][i] is
// run r's F1 on item i. There must be at least one run.
func BestOf(f1 [][]float64) (maximum, empty float64) {
	n := float64(len(f1[0]))
	for i := range f1[0] {
		best := 0.0
		for _, run := range f1 {
			best = max(best, run[i])
		}
		maximum += best / n
		if best == 0 {
			empty += 1 / n
		}
	}
	return maximum, empty
}

// DialogueMean contains the means for Interactive-KBQA dialogues.
type DialogueMean struct {
	N             int      `json:"n"`
	Finished      float64  `json:"finished"` // share of dialogues that ended with Done
	Turns         float64  `json:"turns"`
	TurnsFinished *float64 `json:"turns_finished"` // mean number of turns in the finished dialogues
	Precision     float64  `json:"linking_precision"`
	Recall        float64  `json:"linking_recall"`
	F1            float64  `json:"linking_f1"`
	Mentioned     float64  `json:"mention_cover_rate"`
}

// DialoguesMean averages over dialogues. It returns nil if there are no dialogues.
func DialoguesMean(ds []*Dialogue) *DialogueMean {
	if len(ds) == 0 {
		return nil
	}
	m := &DialogueMean{N: len(ds)}
	n := float64(len(ds))
	done, turns := 0, 0
	for _, d := range ds {
		m.Turns += float64(d.Turns()) / n
		if d.Finished() {
			done++
			turns += d.Turns()
		}
		p, r, f, c := d.Linking()
		m.Precision, m.Recall, m.F1, m.Mentioned = m.Precision+p/n, m.Recall+r/n, m.F1+f/n, m.Mentioned+c/n
	}
	m.Finished = float64(done) / n
	if done > 0 {
		m.TurnsFinished = mean(float64(turns), done)
	}
	return m
}

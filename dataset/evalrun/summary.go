package evalrun

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Summary is summary.json: the results of a run.
type Summary struct {
	Schema    int             `json:"schema"`
	Items     int             `json:"items"`   // number of items done
	Missing   int             `json:"missing"` // items chosen but not done because the run was stopped
	Answered  int             `json:"answered"`
	NoAnswer  map[string]int  `json:"no_answer"`      // by reason, excluding items with service failures
	Failed    map[string]int  `json:"failed"`         // by kind of service failure
	FailedIDs []string        `json:"failed_ids"`     // IDs of those items
	Excluded  []Excluded      `json:"excluded"`       // items not included in averages
	Scores    []MetricSummary `json:"scores"`         // by metric
	Steps     float64         `json:"steps_mean"`     // mean number of steps, over items without service failures
	Refused   int             `json:"refused"`        // repetitions and early stops
	Repairs   map[string]int  `json:"repairs"`        // turns that had to be repaired, by error
	Incidents int             `json:"incidents"`      // failed service calls after which the agent continued
	Retried   int             `json:"retried"`        // attempts with a service failure
	Usage     llm.Usage       `json:"usage"`          // usage of attempts without service failures
	Lost      llm.Usage       `json:"lost"`           // usage of attempts with service failures
	Seconds   float64         `json:"seconds_mean"`   // per item
	Snapshot  [2]string       `json:"gold_snapshots"` // first and last times that gold queries were run, RFC 3339
}

func (s *Summary) repaired() int {
	n := 0
	for _, v := range s.Repairs {
		n += v
	}
	return n
}

// Excluded is an item not included in averages.
type Excluded struct {
	ID  string `json:"id"`
	Why string `json:"why"` // gold_missing, gold_failed, or gold_empty
}

// Means are means over N items, from 0 to 1, or null if there are no items.
type Means struct {
	N  int      `json:"n"`
	F1 *float64 `json:"f1"`
	EM *float64 `json:"em"`
}

func meansOf(f1, em []float64) Means { return Means{len(f1), meanOrNil(f1), meanOrNil(em)} }

// MetricSummary contains a metric's means over scorable items without service failures. The names are the same as in
// "eval score".
type MetricSummary struct {
	Metric string `json:"metric"`
	Means
	// Upper is the mean of the upper bounds if scoring ran out of time or memory for some items.
	Upper *float64 `json:"f1_upper,omitempty"`
	// WithFailures also includes items with service failures, each scored as 0; nil if there were no such failures.
	WithFailures *Means `json:"with_failures,omitempty"`
}

// failed returns the number of scorable items with service failures.
func (m *MetricSummary) failed() int {
	if m.WithFailures == nil {
		return 0
	}
	return m.WithFailures.N - m.N
}

// whole returns the means with any service failures scored as 0.
func (m *MetricSummary) whole() Means {
	if m.WithFailures == nil {
		return m.Means
	}
	return *m.WithFailures
}

// summarize computes the means of a metric over scorable items.
func summarize(metric string, items []*ItemData) MetricSummary {
	var f1, em, upper, zeros []float64
	limits := false
	for _, it := range items {
		sc, ok := it.Score(metric)
		switch {
		case !ok:
		case it.Error != nil:
			zeros = append(zeros, 0)
		default:
			f1, em, upper = append(f1, sc.F1), append(em, sc.EM), append(upper, max(sc.F1, sc.Upper))
			limits = limits || sc.Upper > sc.F1
		}
	}
	m := MetricSummary{Metric: metric, Means: meansOf(f1, em)}
	if limits {
		m.Upper = meanOrNil(upper)
	}
	if len(zeros) > 0 {
		all := meansOf(append(f1, zeros...), append(em, zeros...))
		m.WithFailures = &all
	}
	return m
}

// Summary summarizes the run.
func (r *RunData) Summary() *Summary {
	s := &Summary{Schema: Schema, Items: len(r.Items), Missing: r.NotAsked, NoAnswer: map[string]int{},
		Failed: map[string]int{}, FailedIDs: []string{}, Excluded: []Excluded{}, Repairs: map[string]int{}}
	var steps, seconds []float64
	for i := range r.Items {
		it := &r.Items[i]
		switch {
		case it.Error != nil:
			s.Failed[it.Error.Kind]++
			s.FailedIDs = append(s.FailedIDs, it.ID)
		case it.Answered:
			s.Answered++
		default:
			s.NoAnswer[it.Reason]++
		}
		if why := it.excluded(); why != "" {
			s.Excluded = append(s.Excluded, Excluded{it.ID, why})
		}
		if asked(it) {
			steps = append(steps, float64(it.Steps))
			seconds = append(seconds, float64(it.Meta.MS)/1000)
		}
		s.Refused += it.Meta.Refused
		for what, n := range it.Meta.Repairs {
			s.Repairs[what] += n
		}
		s.Incidents += it.Meta.Incidents
		s.Retried += len(it.Meta.Attempts)
		s.Usage.Add(it.Meta.Usage)
		s.Lost.Add(it.Meta.Lost)
		if g := it.Meta.Gold; g != nil && !g.Snapshot.IsZero() {
			at := g.Snapshot.UTC().Format("2006-01-02T15:04:05Z")
			if s.Snapshot[0] == "" || at < s.Snapshot[0] {
				s.Snapshot[0] = at
			}
			s.Snapshot[1] = max(s.Snapshot[1], at)
		}
	}
	s.Steps, s.Seconds = mean(steps), mean(seconds)
	items := make([]*ItemData, len(r.Items))
	for i := range r.Items {
		items[i] = &r.Items[i]
	}
	for _, name := range r.Metric {
		s.Scores = append(s.Scores, summarize(name, items))
	}
	return s
}

func meanOrNil(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	m := mean(v)
	return &m
}

// mean returns the mean of v, or 0 if v is empty.
func mean(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// percent formats a fraction as a percentage without a percent sign, such as 69.54, as is customary in tables of
// scores. If v is nil, it returns a dash.
func percent(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100**v)
}

// WriteText writes the summary as text.
func (s *Summary) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%d items: %d answered", s.Items, s.Answered)
	for _, reason := range sortedKeys(s.NoAnswer) {
		fmt.Fprintf(w, ", %d %s", s.NoAnswer[reason], reason)
	}
	for _, kind := range sortedKeys(s.Failed) {
		fmt.Fprintf(w, ", %d failed by a service (%s)", s.Failed[kind], kind)
	}
	if len(s.Failed) == 0 {
		fmt.Fprint(w, ", none failed by a service")
	}
	if s.Missing > 0 {
		fmt.Fprintf(w, "; %d not asked yet", s.Missing)
	}
	fmt.Fprintln(w)
	s.writeScores(w)
	fmt.Fprintf(w, "\n%.1f steps and %.1f s per item, %d refused actions, %d repaired turns, %d calls to the model, %d tokens in, %d out", s.Steps, s.Seconds, s.Refused,
		s.repaired(), s.Usage.Calls,
		s.Usage.InputTokens, s.Usage.OutputTokens)
	if n := s.Usage.CachedTokens; n > 0 {
		fmt.Fprintf(w, ", %d of those in from the server's cache", n)
	}
	if s.Usage.USD+s.Lost.USD > 0 {
		fmt.Fprintf(w, ", $%.4f", s.Usage.USD)
		if s.Lost.USD > 0 {
			fmt.Fprintf(w, " and $%.4f for attempts with a service failure", s.Lost.USD)
		}
	}
	all := s.Usage
	all.Add(s.Lost)
	fmt.Fprintln(w, all.Bound())
	if s.Snapshot[0] != "" {
		fmt.Fprintf(w, "gold queries were run from %s to %s\n", s.Snapshot[0], s.Snapshot[1])
	}
	for _, why := range []string{GoldEmpty, GoldFailed, GoldMissing} {
		if ids := s.excludedFor(why); len(ids) > 0 {
			fmt.Fprintf(w, "not averaged (%s): %d: %s\n", why, len(ids), list(ids, 5))
		}
	}
	if len(s.FailedIDs) > 0 {
		fmt.Fprintf(w, "failed by a service, run again to ask again: %s\n", list(s.FailedIDs, 5))
	}
}

// writeScores writes one line per metric and, if there are service failures, a second line in which these are scored as
// 0, as in "eval score".
func (s *Summary) writeScores(w io.Writer) {
	if len(s.Scores) == 0 {
		return
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "measure\tn\tF1\tEM\t\n")
	for _, m := range s.Scores {
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t\n", m.Metric, m.N, percent(m.F1), percent(m.EM))
		if m.Upper != nil {
			fmt.Fprintf(tw, "%s, at most\t%d\t%s\t\t\n", m.Metric, m.N, percent(m.Upper))
		}
		if all := m.WithFailures; all != nil {
			fmt.Fprintf(tw, "%s, %d failed as 0\t%d\t%s\t%s\t\n", m.Metric, m.failed(), all.N, percent(all.F1), percent(all.EM))
		}
	}
	_ = tw.Flush() // if standard output is closed, the program ends
}

func (s *Summary) excludedFor(why string) (ids []string) {
	for _, e := range s.Excluded {
		if e.Why == why {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// list returns the first few IDs; summary.json contains all of them. IDs come from a file, so characters that could
// control a terminal are quoted.
func list(ids []string, most int) string {
	var out []string
	for _, id := range ids[:min(len(ids), most)] {
		q := fmt.Sprintf("%q", id)
		if q[1:len(q)-1] == id {
			q = id
		}
		out = append(out, q)
	}
	if len(ids) > most {
		out = append(out, fmt.Sprintf("and %d more", len(ids)-most))
	}
	return strings.Join(out, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

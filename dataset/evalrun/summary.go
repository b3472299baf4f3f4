package evalrun

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Summary is summary.json: what a run came to.
type Summary struct {
	Schema    int             `json:"schema"`
	Items     int             `json:"items"`   // done
	Missing   int             `json:"missing"` // chosen and not done, because the run was stopped
	Answered  int             `json:"answered"`
	NoAnswer  map[string]int  `json:"no_answer"`      // by reason, those that services failed left out
	Failed    map[string]int  `json:"failed"`         // by the kind of the service's failure
	FailedIDs []string        `json:"failed_ids"`     // those items
	Excluded  []Excluded      `json:"excluded"`       // from every average
	Scores    []MetricSummary `json:"scores"`         // by metric
	Steps     float64         `json:"steps_mean"`     // of the items that no service failed
	Refused   int             `json:"refused"`        // repetitions and early stops
	Incidents int             `json:"incidents"`      // calls that a service failed and the agent went on after
	Retried   int             `json:"retried"`        // attempts that a service failed
	Usage     llm.Usage       `json:"usage"`          // of the attempts that count
	Lost      llm.Usage       `json:"lost"`           // of those that a service failed
	Seconds   float64         `json:"seconds_mean"`   // an item
	Snapshot  [2]string       `json:"gold_snapshots"` // first and last time at which a gold query was run, RFC 3339
}

// Excluded is an item that stands in no average.
type Excluded struct {
	ID  string `json:"id"`
	Why string `json:"why"` // gold_missing, gold_failed or gold_empty
}

// MetricSummary are the means of a metric, from 0 to 1, both ways: over all scorable items, an item that a service failed counting 0, and over those that no
// service failed. F1 and EM are null where there are none.
type MetricSummary struct {
	Metric string   `json:"metric"`
	N      int      `json:"n"`
	F1     *float64 `json:"f1"`
	EM     *float64 `json:"em"`
	Served struct {
		N  int      `json:"n"`
		F1 *float64 `json:"f1"`
		EM *float64 `json:"em"`
	} `json:"without_failures"`
}

// Summary sums the run up.
func (r *RunData) Summary() *Summary {
	s := &Summary{Schema: Schema, Items: len(r.Items), NoAnswer: map[string]int{}, Failed: map[string]int{}, FailedIDs: []string{}, Excluded: []Excluded{}}
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
	for _, name := range r.Metric {
		s.Scores = append(s.Scores, r.metric(name))
	}
	return s
}

func (r *RunData) metric(name string) MetricSummary {
	m := MetricSummary{Metric: name}
	var f1, em, servedF1, servedEM []float64
	for i := range r.Items {
		sc, ok := r.Items[i].Score(name)
		if !ok {
			continue
		}
		f1, em = append(f1, sc.F1), append(em, sc.EM)
		if r.Items[i].Error == nil {
			servedF1, servedEM = append(servedF1, sc.F1), append(servedEM, sc.EM)
		}
	}
	m.N, m.F1, m.EM = len(f1), meanOrNil(f1), meanOrNil(em)
	m.Served.N, m.Served.F1, m.Served.EM = len(servedF1), meanOrNil(servedF1), meanOrNil(servedEM)
	return m
}

func meanOrNil(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	m := mean(v)
	return &m
}

// mean is 0 for no values.
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

// percent writes a share as the tables of the field do: 69.54; a dash for none.
func percent(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100**v)
}

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%d items: %d answered", s.Items, s.Answered)
	for _, reason := range sortedKeys(s.NoAnswer) {
		fmt.Fprintf(w, ", %d %s", s.NoAnswer[reason], reason)
	}
	for _, kind := range sortedKeys(s.Failed) {
		fmt.Fprintf(w, ", %d failed by a service (%s)", s.Failed[kind], kind)
	}
	if s.Missing > 0 {
		fmt.Fprintf(w, "; %d not asked yet", s.Missing)
	}
	fmt.Fprintln(w)
	failed := len(s.FailedIDs) > 0
	s.writeScores(w, failed)
	fmt.Fprintf(w, "\n%.1f steps and %.1f s an item, %d refused actions, %d calls of the model, %d tokens in, %d out", s.Steps, s.Seconds, s.Refused, s.Usage.Calls,
		s.Usage.InputTokens, s.Usage.OutputTokens)
	if s.Usage.USD+s.Lost.USD > 0 {
		fmt.Fprintf(w, ", $%.4f", s.Usage.USD)
		if s.Lost.USD > 0 {
			fmt.Fprintf(w, " and $%.4f for attempts that a service failed", s.Lost.USD)
		}
	}
	fmt.Fprintln(w)
	if s.Snapshot[0] != "" {
		fmt.Fprintf(w, "gold queries were run from %s to %s\n", s.Snapshot[0], s.Snapshot[1])
	}
	for _, why := range []string{GoldEmpty, GoldFailed, GoldMissing} {
		if ids := s.excludedFor(why); len(ids) > 0 {
			fmt.Fprintf(w, "in no average (%s): %d: %s\n", why, len(ids), list(ids, 5))
		}
	}
	if failed {
		fmt.Fprintf(w, "failed by a service, run again to ask again: %s\n", list(s.FailedIDs, 5))
	}
}

// writeScores writes a line a metric; with failed also the means without the items that services failed.
func (s *Summary) writeScores(w io.Writer, failed bool) {
	if len(s.Scores) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%-10s %6s %8s %8s", "metric", "n", "F1", "EM")
	if failed {
		fmt.Fprintf(w, "   without the failed: %6s %8s %8s", "n", "F1", "EM")
	}
	fmt.Fprintln(w)
	for _, m := range s.Scores {
		fmt.Fprintf(w, "%-10s %6d %8s %8s", m.Metric, m.N, percent(m.F1), percent(m.EM))
		if failed {
			fmt.Fprintf(w, "                       %6d %8s %8s", m.Served.N, percent(m.Served.F1), percent(m.Served.EM))
		}
		fmt.Fprintln(w)
	}
}

func (s *Summary) excludedFor(why string) (ids []string) {
	for _, e := range s.Excluded {
		if e.Why == why {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// list names the first ids; summary.json has all. Ids are texts from a file: what could steer a terminal is quoted.
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

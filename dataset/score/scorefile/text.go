package scorefile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/text"
)

// share formats a mean as a percentage, as papers do, or as a dash if there is none.
func share(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100**v)
}

func meansOf(all map[score.Metric]score.Mean, only score.Mean, main score.Metric) map[score.Metric]score.Mean {
	if all != nil {
		return all
	}
	return map[score.Metric]score.Mean{main: only}
}

// WriteText prints a document as text, with a column for each score.
func (d *Document) WriteText(w io.Writer, metrics []score.Metric) {
	fmt.Fprintf(w, "%s: %d items (%s)\n\n", text.OneLine(d.File), len(d.Items), d.Format)
	if d.Metrics == nil {
		metrics = []score.Metric{d.Main}
	}
	means := meansOf(d.Metrics, d.Mean, d.Main)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "measure\tn\tF1\tEM\t\n")
	for _, m := range metrics {
		v := means[m]
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t\n", m, v.N, share(v.F1), share(v.EM))
		if v.WithFailures != nil {
			fmt.Fprintf(tw, "%s, %d failed as 0\t%d\t%s\t%s\t\n", m, v.WithFailures.N-v.N, v.WithFailures.N,
				share(v.WithFailures.F1), share(v.WithFailures.EM))
		}
		if v.Upper != nil {
			fmt.Fprintf(tw, "%s, at most\t%d\t%s\t\t\n", m, v.N, share(v.Upper))
		}
	}
	_ = tw.Flush() // writing to a closed standard output ends the program
	if k := means[score.MetricKBQA]; k.SetMean != nil && k.N > 0 {
		fmt.Fprintf(w, "\nkbqa: precision %.2f, recall %.2f, RHits@1 %.2f, Hits@1 %.2f, Hits@5 %.2f, Hits@10 %.2f, hit with aliases %.2f, accuracy %.2f (first elements %.2f)\n", 100*k.Precision,
			100*k.Recall, 100*k.RHits1, 100*k.Hits1, 100*k.Hits5, 100*k.Hits10, 100*k.Hit, 100*k.Acc, 100*k.AccFirst)
	}
	if g := d.Dialogues; g != nil {
		fmt.Fprintf(w, "\n%d dialogues: %.2f%% finished, %.2f turns; entity linking P %.2f, R %.2f, F1 %.2f; mention cover rate %.2f\n", g.N, 100*g.Finished, g.Turns, 100*g.Precision,
			100*g.Recall, 100*g.F1, 100*g.Mentioned)
	}
	for _, by := range Groupings {
		if groups := d.Groups[by.By]; len(groups) > 0 {
			groupTable(w, by.By, groups, metrics, d.Main)
		}
	}
	writeRemarks(w, d)
}

func groupTable(w io.Writer, by string, groups []Group, metrics []score.Metric, main score.Metric) {
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "%s\tn\t", by)
	for _, m := range metrics {
		fmt.Fprintf(tw, "%s F1\tEM\t", m)
	}
	fmt.Fprintln(tw)
	for _, g := range groups {
		means := meansOf(g.Metrics, g.Mean, main)
		fmt.Fprintf(tw, "%s\t%d\t", text.OneLine(g.Group), g.N)
		for _, m := range metrics {
			fmt.Fprintf(tw, "%s\t%s\t", share(means[m].F1), share(means[m].EM))
		}
		fmt.Fprintln(tw)
	}
	_ = tw.Flush()
}

// maxRemarks is the maximum number of items that are reported in detail.
const maxRemarks = 5

// writeRemarks lists the items left out of all means and the items with uncertain scores.
func writeRemarks(w io.Writer, d *Document) {
	reasons := make([]string, 0, len(d.Excluded))
	for r := range d.Excluded {
		reasons = append(reasons, r)
	}
	slices.Sort(reasons)
	if len(reasons)+len(d.Failed)+len(d.Missing)+len(d.Differ) > 0 || d.Stored != nil {
		fmt.Fprintln(w)
	}
	if d.Stored != nil {
		fmt.Fprintf(w, "stored in the file: %d of %d F1 values agree with spinach\n",
			d.Stored.N-len(d.Stored.Differ), d.Stored.N)
		if len(d.Stored.Differ) > 0 {
			fmt.Fprintf(w, "others: %s\n", someIDs(positions(d.Stored.Differ)))
		}
	}
	for _, r := range reasons {
		fmt.Fprintf(w, "in no mean, %s: %s\n", text.OneLine(r), someIDs(d.Excluded[r]))
	}
	for i, o := range d.Odd {
		if i == maxRemarks {
			fmt.Fprintf(w, "and %d more\n", len(d.Odd)-i)
			break
		}
		fmt.Fprintf(w, "item %s: %s\n", text.OneLine(o.ID), text.OneLine(o.Why))
	}
	if len(d.Failed) > 0 {
		ids := make([]string, len(d.Failed))
		for i, f := range d.Failed {
			ids[i] = f.ID
		}
		fmt.Fprintf(w, "in no mean, a service failed (first: %s): %s\n", text.OneLine(d.Failed[0].Why), someIDs(ids))
	}
	if len(d.Missing) > 0 {
		fmt.Fprintf(w, "items of the benchmark without an output: %s\n", someIDs(d.Missing))
	}
	if len(d.Differ) > 0 {
		fmt.Fprintf(w, "several best pairings, scores of programs that take another one (SciPy's) may be lower on item: %s\n",
			someIDs(positions(d.Differ)))
	}
}

func positions(list []int) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = fmt.Sprintf("#%d", n+1)
	}
	return out
}

// someIDs formats the number of IDs and the first few of them.
func someIDs(ids []string) string {
	const most = 10
	out := fmt.Sprintf("%d: ", len(ids)) + text.OneLine(strings.Join(ids[:min(len(ids), most)], ", "))
	if len(ids) > most {
		out += ", …"
	}
	return out
}

// WriteText prints the combined scores as text.
func (b *Best) WriteText(w io.Writer) {
	fmt.Fprintf(w, "\nbest of %d files on %d common items: max@%d %.2f, empty@%d %.2f\n", b.K, b.N, b.K, 100*b.Max, b.K,
		100*b.Empty)
}

package stats

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// published contains rows of SPINACH's Table 1 as counted by the notebook, for comparison with a benchmark's own
// row.
var published = []struct {
	name   string
	values [7]float64 // clauses, projections, relations, subjects, predicates, objects, literals
}{
	{"SPINACH", [7]float64{8.89, 2.50, 4.03, 1.76, 3.55, 4.53, .46}},
	{"QALD-10", [7]float64{2.38, 1, 1.27, 1.19, 1.17, 1.32, .05}},
	{"QALD-9 Plus", [7]float64{3.14, 1, 1.77, 1.26, 1.70, 1.78, .05}},
	{"WikiWebQuestions", [7]float64{2.63, 1, 1.53, 1.25, 1.52, 1.53, .04}},
	{"KQA Pro", [7]float64{6.34, 1, 5.01, 2.77, 3.94, 2.43, 2.37}},
	{"LC-QuAD 2", [7]float64{3.65, 1, 2.07, 1.51, 2.05, 2.07, .22}},
}

// columns are the names of the metrics in Table 1.
var columns = [...]string{"clauses", "projections", "relations", "subjects", "predicates", "objects", "literals"}

// values returns the means in column order, with nil for unknown means.
func (m Means) values() [7]*float64 {
	return [7]*float64{&m.Clauses, m.Projections, &m.Relations, &m.Subjects, &m.Predicates, &m.Objects, &m.Literals}
}

// WriteText prints the report as plain-text tables.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	left := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var err error
	print := func(to io.Writer, format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(to, format, args...)
		}
	}
	flush := func(t *tabwriter.Writer) {
		if err == nil {
			err = t.Flush()
		}
	}
	print(w, "%s (%s)\n\nComplexity, mean per query (SPINACH, Table 1)\n", counted(r.N, "item", "items"), r.Format)
	print(t, "\t%s\t\n", strings.Join(columns[:], "\t"))
	line := func(name string, values [7]*float64) {
		print(t, "%s\t", name)
		for _, v := range values {
			if v == nil {
				print(t, "-\t")
			} else {
				print(t, "%.2f\t", *v)
			}
		}
		print(t, "\n")
	}
	line("this file, as the notebook counts", r.Notebook.values())
	line("this file, on the tree", r.Tree.values())
	for _, p := range published {
		var v [7]*float64
		for i := range p.values {
			v[i] = &p.values[i]
		}
		line("published: "+p.name, v)
	}
	flush(t)
	if r.Notebook.Projections == nil {
		print(w, "The notebook counts projections on results, and the file has none.\n")
	}

	print(w, "\nDiversity (Tables 6 and 7)\n")
	for _, d := range []struct {
		name string
		n    int
	}{{"properties", r.UniqueProperties}, {"patterns", r.UniquePatterns}, {"patterns by tokens",
		r.UniqueShapes}, {"entities", r.UniqueEntities}} {
		print(left, "  %s\t%d\n", d.name, d.n)
	}
	flush(left)

	if c := r.Conversations; c != nil {
		print(w, "\nResponses in the discussion (Table 8), %s\n", counted(c.N, "discussion", "discussions"))
		printShares(print, left, append(append([]Share{}, c.Lengths...), c.Short, c.Medium, c.Long))
		flush(left)
	}
	if p := r.Popularity; p != nil {
		print(w, "\nPage views of %s, %d with a figure (Table 9)\n", counted(p.Entities, "entity", "entities"), p.Known)
		for _, q := range p.Percentiles {
			print(left, "  %dth\t%s\t%s\n", q.Percent, thousands(q.Views), q.Entity)
		}
		flush(left)
	}
	print(w, "\nQuestions: median %d words, 90th percentile %d, longest %d\n", r.Words.Median, r.Words.P90, r.Words.Max)
	for _, s := range []struct {
		heading string
		shares  []Share
	}{{"Years", r.Years}, {"Languages of the questions", r.Languages}, {"Features of the queries", r.Features}} {
		if len(s.shares) > 0 {
			print(w, "\n%s\n", s.heading)
			printShares(print, left, s.shares)
			flush(left)
		}
	}
	if len(r.Unparsed) > 0 {
		print(w, "\nNot parsed, and left out of the figures on the tree and of the features: %s\n",
			counted(len(r.Unparsed), "query", "queries"))
		for _, u := range r.Unparsed {
			print(w, "  %s: %s\n", u.ID, u.Error)
		}
	}
	return err
}

func printShares(print func(io.Writer, string, ...any), w io.Writer, shares []Share) {
	for _, s := range shares {
		print(w, "  %s\t%d\t%.1f%%\n", s.Name, s.Count, 100*s.Share)
	}
}

// counted formats a number followed by a noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// thousands formats 3499391 as 3,499,391.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package release

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// Description is the content of a [Card].
type Description struct {
	Name       string
	Made       time.Time
	Funnel     *dataset.Funnel // nil if the folder has none
	Candidates []dataset.Candidate
	Golds      []Gold
	Annotators int
	Agreement  []string // one line per pair of annotators
	Statistics string   // tables as plain text
	Command    string   // the command that created the card
}

// Card writes the dataset card in Markdown. It describes the benchmark, its origin, which items were left out and why,
// and the license. As the license requires, the card also lists the discussions from which the benchmark was made, with
// their permanent links. Text from the wiki is escaped.
func Card(w io.Writer, d *Description) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	validated, modified := 0, 0
	for _, g := range d.Golds {
		if g.Validated {
			validated++
		}
		if g.Modified {
			modified++
		}
	}
	p("---\nlicense: cc-by-sa-4.0\nlanguage: [en]\ntask_categories: [question-answering]\ntags: [SPARQL, Wikidata, knowledge graph]\n---\n")
	p("# %s\n", Escape(cmp.Or(d.Name, "Benchmark")))
	p("%d questions with SPARQL queries over Wikidata, made from discussions on a public request forum. Made %s.\n",
		len(d.Golds), d.Made.UTC().Format("2 January 2006"))
	p("## What it is\n")
	p("Each item is a self-contained English question and the query that answers it. The query is the last one that was posted in its discussion. Annotators trimmed parts that serve only the presentation of Wikimedia projects, optimization or formatting (%d of %d), and wrote the question so that it says what the query asks. %d of %d items were validated by a second person who had not seen the first one's verdict.\n",
		modified, len(d.Golds), validated, len(d.Golds))
	p("Answers are not part of the question: the graph changes every day. Run the gold queries when you evaluate, and leave out what returns nothing; `spinachbot dataset verify` reports how answers have drifted since.\n")
	if d.Funnel != nil {
		funnel(p, d)
	}
	p("## Annotation\n")
	p("Annotators: %d. Verdicts were given independently; agreement counts those before either had seen the other's.\n",
		d.Annotators)
	for _, line := range d.Agreement {
		p("- %s", Escape(line))
	}
	p("")
	nearDuplicates(p, d.Golds)
	if d.Statistics != "" {
		p("## Statistics\n\n```text\n%s\n```\n", strings.ReplaceAll(strings.TrimRight(d.Statistics, "\n"),
			"```", "'''"))
	}
	p("## License and attribution\n")
	p("%s. The questions and queries are made from the discussions below, whose authors published them under this license; each is named by the permanent link to the revision that was read.\n", dataset.License)
	golds := slices.Clone(d.Golds)
	slices.SortStableFunc(golds, func(a, b Gold) int { return byPlace(a.Candidate, b.Candidate) })
	for _, g := range golds {
		c := g.Candidate
		p("- `%s` [%s](%s), %s%s", c.ID, Escape(cmp.Or(c.Provenance.Heading, "untitled")), Link(c.Provenance.Permalink),
			c.Provenance.Month, authors(c))
	}
	if d.Command != "" {
		p("\nMade with `%s`.", d.Command)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// funnel describes how the archive was narrowed down to the items.
func funnel(p func(string, ...any), d *Description) {
	t := d.Funnel.Total
	first, last := 0, 0
	for _, y := range d.Funnel.Years {
		if first == 0 {
			first = y.Year
		}
		last = y.Year
	}
	p("## Source\n")
	p("The archive of the forum, %d to %d: %d pages read.\n", first, last, d.Funnel.Pages.Read)
	p("| stage | discussions |\n| --- | ---: |")
	for _, row := range []struct {
		name string
		n    int
	}{{"in the archive", t.Discussions}, {"with a query", t.WithQuery}, {"whose last query is valid", t.Valid},
		{"whose last query runs", t.Run},
		{"with rows, below 10 MB", t.Staged}, {"kept by annotators", len(d.Golds)}} {
		p("| %s | %d |", row.name, row.n)
	}
	p("")
	if len(t.Rejected) > 0 {
		reasons := make([]dataset.Reason, 0, len(t.Rejected))
		for r := range t.Rejected {
			reasons = append(reasons, r)
		}
		slices.SortFunc(reasons, func(a, b dataset.Reason) int {
			return cmp.Or(cmp.Compare(t.Rejected[b], t.Rejected[a]), cmp.Compare(a, b))
		})
		parts := make([]string, len(reasons))
		for i, r := range reasons {
			parts[i] = fmt.Sprintf("%s %d", strings.ReplaceAll(string(r), "_", " "), t.Rejected[r])
		}
		p("Left out by the harvest: %s.\n", strings.Join(parts, ", "))
	}
}

// nearDuplicates counts the items that the harvest found similar to items of published benchmarks, on which a model may
// have been trained, or to each other.
func nearDuplicates(p func(string, ...any), golds []Gold) {
	kept := make(map[string]bool, len(golds))
	for _, g := range golds {
		kept[g.Candidate.ID] = true
	}
	counts := map[string]*[2]int{} // by source: the total, and how many have the same pattern and IDs
	each := 0
	for _, g := range golds {
		best := map[string]float64{}
		for _, n := range g.Candidate.Near {
			if n.Source != NearCandidates || kept[n.ID] {
				best[n.Source] = max(best[n.Source], n.Similarity)
			}
		}
		for source, similarity := range best {
			if source == NearCandidates {
				each++
				continue
			}
			if counts[source] == nil {
				counts[source] = new([2]int)
			}
			counts[source][0]++
			if similarity >= 1 {
				counts[source][1]++
			}
		}
	}
	p("## Near-duplicates\n")
	p("A query is near another when it has the same pattern, with the same numbers or with others, or similar text. Near others of this benchmark: %d of %d items; `spinachbot dataset split` keeps those that ask nearly the same in one part.\n", each, len(golds))
	if len(counts) == 0 {
		p("None of the items is near one of a published benchmark that the harvest was given (`spinachbot harvest --benchmark`).\n")
		return
	}
	p("| published benchmark | items near one of its | the same pattern and numbers |\n| --- | ---: | ---: |")
	for _, source := range slices.Sorted(maps.Keys(counts)) {
		p("| %s | %d | %d |", Escape(source), counts[source][0], counts[source][1])
	}
	p("")
}

// authors returns the authors of a discussion, for attribution.
func authors(c *dataset.Candidate) string {
	var names []string
	for _, m := range c.Conversation.Comments {
		if m.Author != "" && !slices.Contains(names, m.Author) {
			names = append(names, m.Author)
		}
	}
	if len(names) == 0 {
		return ""
	}
	for i := range names {
		names[i] = Escape(names[i])
	}
	return ", by " + strings.Join(names, ", ")
}

// Escape turns external text into plain Markdown text on one line.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if strings.ContainsRune("\\`*_{}[]()<>#+!|&~$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Link escapes a URL so that it cannot end the link that contains it.
func Link(s string) string {
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return ""
	}
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "").Replace(s)
}

package annotate

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// side is one annotator's work in a comparison.
type side struct {
	annotate.Work
	Letter    string          // the key that copies this side, such as A or B
	Lines     []text.DiffLine // the query, compared with another annotator's
	SameQuery bool            // the query is unchanged from the harvest
}

type compareData struct {
	*annotate.Case
	Sides         []side
	Final         *annotate.Work // the resolution, or its initial state
	Differences   []string       // message keys
	Resolved      bool
	Filter        filter
	Before, After string
	Place         string // position of the candidate in its queue
	Page          pageData
	PermalinkSafe string
}

// compare shows all verdicts on a candidate side by side, and the resolution.
func (s *Server) compare(w http.ResponseWriter, r *http.Request, who string) error {
	id := r.PathValue("id")
	cases, c, err := s.among(r.Context(), id)
	if err != nil {
		return err
	}
	f := s.readFilter(r.URL.Query())
	if !c.Visible(who) || len(c.Decided()) < 2 && c.State() != annotate.Resolved {
		http.Redirect(w, r, s.Base+"/item/"+id+"?"+f.Query(), http.StatusSeeOther)
		return nil
	}
	decided := c.Decided()
	data := &compareData{Case: c, Differences: annotate.Differences(decided), Resolved: c.State() == annotate.Resolved,
		Filter: f, PermalinkSafe: webAddress(c.Candidate.Provenance.Permalink)}
	data.Before, data.After, data.Place = s.neighbors(r, cases, f, who, id)
	for j, x := range decided {
		sd := side{Work: x, Letter: string(rune('A' + j%26)),
			SameQuery: sparql.NormalForm(x.Query) == sparql.NormalForm(annotate.StartQuery(c.Candidate))}
		first := decided[0].Query
		if j == 0 && len(decided) > 1 {
			first = decided[1].Query
		}
		sd.Lines = otherSide(first, x.Query)
		data.Sides = append(data.Sides, sd)
	}
	data.Final = c.Resolution
	if data.Final == nil {
		data.Final = &annotate.Work{Candidate: id}
	}
	start := *data.Final
	if start.Version == 0 {
		start.Query, start.Question = decided[0].Query, decided[0].Question
		for _, x := range decided {
			start.Question = cmp.Or(strings.TrimSpace(start.Question), x.Question)
		}
		if len(data.Differences) == 0 && len(decided) > 1 {
			start.Verdict, start.Reason = decided[0].Verdict, decided[0].Reason
		}
	}
	d := c.Candidate
	data.Page = pageData{Candidate: id, Resolution: true, Who: who, Version: data.Final.Version, Query: start.Query,
		Question: start.Question, Note: start.Note, Verdict: start.Verdict, Reason: start.Reason,
		Cleaned: annotate.StartQuery(d), Trimmed: d.Trimmed, Before: data.Before, After: data.After, Queue: s.Base + "/?" + f.Query(),
		Filter: f.Query()}
	for _, x := range decided {
		data.Page.Works = append(data.Page.Works, pageWork{x.Query, x.Question, x.Verdict, x.Reason})
	}
	shown := start
	data.Final = &shown
	s.show(w, r, "compare", cmp.Or(d.Provenance.Heading, id), who, data)
	return nil
}

// otherSide returns the lines of query and marks those that other does not contain.
func otherSide(other, query string) []text.DiffLine {
	return slices.DeleteFunc(diffLines(other, query), func(l text.DiffLine) bool { return l.Sign == "-" })
}

type historyRow struct {
	annotate.Event
	What  string
	Saves int             // number of consecutive edits shown as one
	Lines []text.DiffLine // what changed in the query
	Mine  bool
}

// together is the maximum time between consecutive edits shown as one.
const together = 5 * time.Minute

// history shows the changes to a candidate: all of them once the comparison is open, and only the reader's own changes
// before that.
func (s *Server) history(w http.ResponseWriter, r *http.Request, who string) error {
	c, err := s.caseOf(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	events, err := s.Store.WorkEvents(r.Context(), c.Candidate.ID, "")
	if err != nil {
		return err
	}
	visible := c.Visible(who)
	last := map[string]annotate.Work{}
	var rows []historyRow
	for _, e := range events {
		if !visible && e.Work.Annotator != who {
			continue
		}
		row := historyRow{Event: e, What: s.what(r, &e), Saves: 1, Mine: e.Work.Annotator == who}
		from, known := last[e.Work.Annotator]
		if !known {
			from.Query = annotate.StartQuery(c.Candidate)
		}
		if n := len(rows) - 1; n >= 0 && e.Kind == annotate.Edited && rows[n].Kind == annotate.Edited &&
			rows[n].Work.Annotator == e.Work.Annotator && e.At.Sub(rows[n].At) < together {
			row.Saves = rows[n].Saves + 1
			row.Lines = rows[n].Lines
			rows = rows[:n]
		}
		if lines := diffLines(from.Query, e.Work.Query); slices.ContainsFunc(lines,
			func(l text.DiffLine) bool { return l.Sign != " " }) {
			row.Lines = lines
		}
		last[e.Work.Annotator] = e.Work
		rows = append(rows, row)
	}
	slices.Reverse(rows)
	s.show(w, r, "history", s.Site.Say(r, "annotate.history_title"), who, map[string]any{
		"Case": &c, "Rows": rows, "Visible": visible, "Filter": s.readFilter(r.URL.Query()),
		"Page": pageData{Candidate: c.Candidate.ID, Who: who},
	})
	return nil
}

// what returns a description of an event.
func (s *Server) what(r *http.Request, e *annotate.Event) string {
	key := "annotate.did." + string(e.Kind)
	if e.Kind == annotate.Judged {
		key = "annotate.verdict." + string(e.Work.Verdict)
	}
	did := s.Site.Say(r, key)
	if e.Work.Annotator == annotate.Resolution {
		return s.Site.Say(r, "annotate.did.in_comparison", "what", did)
	}
	return did
}

type personCount struct {
	Name                                          string
	Include, Modify, Exclude, Skip, Draft, Solved int
	Unseen                                        int // verdicts that the reader must not see yet
}

// agreement shows the annotators' agreement, and how much work each annotator has done.
func (s *Server) agreement(w http.ResponseWriter, r *http.Request, who string) error {
	cases, works, err := s.cases(r.Context())
	if err != nil {
		return err
	}
	events, err := s.Store.WorkEvents(r.Context(), "", "")
	if err != nil {
		return err
	}
	visible := map[string]bool{}
	for i := range cases {
		visible[cases[i].Candidate.ID] = cases[i].Visible(who)
	}
	counts := map[string]*personCount{}
	of := func(name string) *personCount {
		if counts[name] == nil {
			counts[name] = &personCount{Name: name}
		}
		return counts[name]
	}
	for _, x := range works {
		if x.Annotator == annotate.Resolution {
			if x.HasVerdict() {
				of(x.By).Solved++
			}
			continue
		}
		p := of(x.Annotator)
		if x.HasVerdict() && x.Annotator != who && !visible[x.Candidate] {
			p.Unseen++
			continue
		}
		switch x.Verdict {
		case dataset.Include:
			p.Include++
		case dataset.Modify:
			p.Modify++
		case dataset.Exclude:
			p.Exclude++
		case dataset.Skip:
			p.Skip++
		default:
			p.Draft++
		}
	}
	var who2 []*personCount
	for _, p := range counts {
		who2 = append(who2, p)
	}
	slices.SortFunc(who2, func(a, b *personCount) int { return strings.Compare(a.Name, b.Name) })
	states := map[string]int{}
	kept := 0
	var disputed []row
	f := filter{annotate.Filter{Box: annotate.Differ}, s.Base}
	for i := range cases {
		states[string(cases[i].State())]++
		if w := cases[i].Final(true); w != nil && w.Keeps() {
			kept++
		}
		if cases[i].State() == annotate.Disputed {
			disputed = append(disputed, rowFor(&cases[i], who, f))
		}
	}
	s.show(w, r, "agreement", s.Site.Say(r, "annotate.agreement"), who, map[string]any{
		"Pairs": annotate.Agreements(annotate.FirstVerdicts(events)), "People": who2, "States": states, "Kept": kept,
		"All": len(cases), "Disputed": disputed, "Verdicts": annotate.Verdicts,
	})
	return nil
}

// kappaFigure formats kappa with two decimal places.
func kappaFigure(k *float64) string {
	if k == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *k)
}

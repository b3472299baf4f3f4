package annotate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
)

// boxes lists the boxes in display order.
var boxes = []annotate.Box{annotate.ForMe, annotate.Todo, annotate.Validate, annotate.Skipped, annotate.Mine,
	annotate.Confirm, annotate.Differ, annotate.Done, annotate.Every}

// filter is an [annotate.Filter] that can be part of a URL.
type filter struct {
	annotate.Filter
	base string // URL prefix
}

func (s *Server) readFilter(q url.Values) filter {
	f := annotate.Filter{
		Box: annotate.Box(q.Get("box")), Flag: q.Get("flag"), Year: q.Get("year"), Feature: q.Get("feature"),
		Verdict: q.Get("verdict"), Advice: q.Get("advice"), Text: strings.TrimSpace(q.Get("q")),
	}
	if !slices.Contains(boxes, f.Box) {
		f.Box = annotate.Todo
	}
	return filter{f, s.Base}
}

// Query returns the filter as a query string.
func (f filter) Query() string {
	v := url.Values{}
	for key, value := range map[string]string{"box": string(f.Box), "flag": f.Flag, "year": f.Year, "feature": f.Feature,
		"verdict": f.Verdict, "advice": f.Advice, "q": f.Text} {
		if value != "" {
			v.Set(key, value)
		}
	}
	return v.Encode()
}

// cases reads all cases, in candidate order, and all the annotators' work.
func (s *Server) cases(ctx context.Context) ([]annotate.Case, []annotate.Work, error) {
	candidates, _ := s.all()
	works, err := s.Store.Works(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	by := map[string][]annotate.Work{}
	for _, w := range works {
		by[w.Candidate] = append(by[w.Candidate], w)
	}
	given, err := s.assigned(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := make([]annotate.Case, len(candidates))
	for i := range candidates {
		out[i] = annotate.NewCase(&candidates[i], by[candidates[i].ID])
		out[i].Assigned = given[candidates[i].ID]
	}
	return out, works, nil
}

// among reads all cases and returns them together with the case of the given candidate. The error can be shown to
// users.
func (s *Server) among(ctx context.Context, id string) ([]annotate.Case, *annotate.Case, error) {
	cases, _, err := s.cases(ctx)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(cases, func(c annotate.Case) bool { return c.Candidate.ID == id })
	if i < 0 {
		return nil, nil, missing(id)
	}
	return cases, &cases[i], nil
}

type row struct {
	*annotate.Case
	URL     string
	Status  string // message key of the status
	Class   string // CSS class of the status
	Verdict dataset.Verdict
	Draft   bool
}

// rowFor returns the row for a case, containing only what the annotator is allowed to see.
func rowFor(c *annotate.Case, who string, f filter) row {
	r := row{Case: c, URL: f.base + "/item/" + c.Candidate.ID + "?" + f.Query(), Verdict: c.VerdictFor(who)}
	own := c.Of(who)
	mine := own != nil && own.HasVerdict()
	switch state := c.State(); {
	case state == annotate.Resolved:
		r.Status, r.Class = "resolved", "good"
		r.URL = f.base + "/compare/" + c.Candidate.ID + "?" + f.Query()
	case state == annotate.Disputed:
		r.Status, r.Class = "disputed", "bad"
	case state == annotate.Agreed:
		r.Status, r.Class = "confirm", "info"
	case state == annotate.Annotated && mine:
		r.Status, r.Class = "second", "wait"
	case state == annotate.Annotated:
		r.Status, r.Class = "validate", "wait"
	default:
		r.Status = "open"
	}
	if (r.Status == "disputed" || r.Status == "confirm") && c.Visible(who) {
		r.URL = f.base + "/compare/" + c.Candidate.ID + "?" + f.Query()
	}
	r.Draft = own != nil && own.Verdict == "" && own.Version > 0
	return r
}

// pageSize is the number of rows on a page of the queue.
const pageSize = 100

func (s *Server) queue(w http.ResponseWriter, r *http.Request, who string) error {
	cases, works, err := s.cases(r.Context())
	if err != nil {
		return err
	}
	f := s.readFilter(r.URL.Query())
	if r.URL.Query().Get("box") == "" &&
		slices.ContainsFunc(cases, func(c annotate.Case) bool { return c.In(annotate.ForMe, who) }) {
		f.Box = annotate.ForMe // candidates assigned to the annotator come first
	}
	type tab struct {
		Box     annotate.Box
		URL     string
		N       int
		Current bool
	}
	tabs := make([]tab, len(boxes))
	var rows []row
	counts := map[annotate.State]int{}
	years, features, flags := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range cases {
		c := &cases[i]
		counts[c.State()]++
		years[c.Candidate.Provenance.Month[:min(4, len(c.Candidate.Provenance.Month))]] = true
		for _, x := range c.Candidate.Features {
			features[x] = true
		}
		for _, x := range c.Candidate.Flags {
			flags[string(x.Kind)] = true
		}
		if !f.Matches(c, who) {
			continue
		}
		for j, b := range boxes {
			if c.In(b, who) {
				tabs[j].N++
			}
		}
		if c.In(f.Box, who) {
			rows = append(rows, rowFor(c, who, f))
		}
	}
	for j, b := range boxes {
		g := f
		g.Box = b
		tabs[j].Box, tabs[j].URL, tabs[j].Current = b, s.Base+"/?"+g.Query(), b == f.Box
	}
	shown := slices.DeleteFunc(tabs, func(t tab) bool { return t.Box == annotate.ForMe && t.N == 0 && !t.Current })
	total := len(rows)
	from := 0
	if _, err := fmt.Sscan(r.URL.Query().Get("from"), &from); err != nil || from < 0 || from >= total {
		from = 0
	}
	end := min(from+pageSize, total)
	filtered := f.Filter != annotate.Filter{Box: f.Box}
	s.show(w, r, "queue", s.Site.Say(r, "annotate.queue"), who, map[string]any{
		"Tabs": shown, "Rows": rows[from:end], "Total": total, "From": from, "First": from + 1, "To": end,
		"More": end < total, "Filter": f, "Filtered": filtered, "Years": sorted(years), "Features": sorted(features),
		"Flags": sorted(flags), "All": len(cases), "Resolved": counts[annotate.Resolved],
		"Decided": len(cases) - counts[annotate.Open], "People": people(works),
		"Verdicts": []string{"include", "modify", "exclude", "skip"}, "Advice": []string{"include", "modify", "exclude"},
	})
	return nil
}

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		if k != "" {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// neighbors returns the URLs of the candidates before and after id among the candidates that the filter selects. The
// queue wraps around: the first candidate follows the last. Both URLs are "" if there are no other candidates. place is
// a phrase with id's position or, for boxes from which decisions remove candidates, the number of candidates left.
func (s *Server) neighbors(r *http.Request, cases []annotate.Case, f filter, who, id string) (before, after,
	place string) {
	var chosen []*annotate.Case
	here, left := -1, 0
	for i := range cases {
		c := &cases[i]
		in := f.Matches(c, who) && c.In(f.Box, who)
		if in {
			left++
		}
		if c.Candidate.ID == id {
			here = len(chosen)
		}
		if in || c.Candidate.ID == id {
			chosen = append(chosen, c)
		}
	}
	switch f.Box {
	case annotate.Mine, annotate.Done, annotate.Every:
		place = s.Site.Say(r, "annotate.place", "n", here+1, "all", len(chosen))
	default: // a decision removes a candidate from these boxes, so every next candidate would be "1 of" some number
		place = s.Site.Say(r, "annotate.left", "n", left)
	}
	if here < 0 || len(chosen) < 2 {
		return "", "", place
	}
	n := len(chosen)
	return rowFor(chosen[(here+n-1)%n], who, f).URL, rowFor(chosen[(here+1)%n], who, f).URL, place
}

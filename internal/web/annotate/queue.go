package annotate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
)

// Box is a named part of an annotator's queue.
type Box string

// The boxes. A candidate is in todo or validate, skipped, mine, or in none of these; beside that it may be in one of the last three.
const (
	Todo     Box = "todo"     // nobody has a verdict
	Validate Box = "validate" // one other has, unseen
	Skipped  Box = "skipped"  // put off
	Mine     Box = "mine"     // decided by me
	Confirm  Box = "confirm"  // verdicts agree
	Differ   Box = "disputed" // they do not
	Done     Box = "resolved"
	Every    Box = "all"
)

// boxes in the order shown, with what they are called.
var boxes = []struct {
	Box  Box
	Name string
	Hint string
}{
	{Todo, "To do", "Nobody has decided on these yet."}, {Validate, "To validate", "One other person has decided; judge before you see how."},
	{Skipped, "Skipped", "You put these off."}, {Mine, "Decided by me", "Your own verdicts."},
	{Confirm, "To confirm", "Two people agree: pick the wording."}, {Differ, "Disputed", "Verdicts or queries differ: resolve them side by side."},
	{Done, "Resolved", "Finished: these are exported."}, {Every, "All", "Every candidate of the harvest."},
}

// In reports whether a case is in a box of who.
func (c *Case) In(b Box, who string) bool {
	own := c.Of(who)
	state := c.State()
	decidedByMe := own != nil && own.Is()
	skipped := own != nil && own.Verdict == dataset.Skip
	switch b {
	case Todo:
		return state == Open && !skipped
	case Validate:
		return state == Annotated && !decidedByMe && !skipped
	case Skipped:
		return skipped && (state == Open || state == Annotated)
	case Mine:
		return decidedByMe
	case Confirm:
		return state == Agreed
	case Differ:
		return state == Disputed
	case Done:
		return state == Resolved
	}
	return true
}

// Visible reports whether who may see the work of others on the case: after the own verdict, when two others have theirs, or when it is resolved.
func (c *Case) Visible(who string) bool {
	own := c.Of(who)
	return own != nil && own.Is() || len(c.Decided()) >= 2 || c.State() == Resolved
}

// Filter chooses candidates of the queue; empty fields choose all.
type Filter struct {
	Box     Box
	Flag    string // a [dataset.FlagKind], or "none"
	Year    string
	Feature string
	Verdict string // mine, or the resolution's
	Advice  string // the model's verdict
	Text    string // words of heading, discussion, queries and my question, all of which must occur
}

func readFilter(q url.Values) Filter {
	f := Filter{Box(q.Get("box")), q.Get("flag"), q.Get("year"), q.Get("feature"), q.Get("verdict"), q.Get("advice"), strings.TrimSpace(q.Get("q"))}
	if !slices.ContainsFunc(boxes, func(b struct {
		Box        Box
		Name, Hint string
	}) bool {
		return b.Box == f.Box
	}) {
		f.Box = Todo
	}
	return f
}

// Query writes the filter as the part of an address after the question mark.
func (f Filter) Query() string {
	v := url.Values{}
	for key, value := range map[string]string{"box": string(f.Box), "flag": f.Flag, "year": f.Year, "feature": f.Feature, "verdict": f.Verdict, "advice": f.Advice, "q": f.Text} {
		if value != "" {
			v.Set(key, value)
		}
	}
	return v.Encode()
}

// matches applies everything but the box.
func (f *Filter) matches(c *Case, who string) bool {
	d := c.Candidate
	switch {
	case f.Flag == "none" && len(d.Flags) > 0:
		return false
	case f.Flag != "" && f.Flag != "none" && !slices.ContainsFunc(d.Flags, func(x dataset.Flag) bool { return string(x.Kind) == f.Flag }):
		return false
	case f.Year != "" && !strings.HasPrefix(d.Provenance.Month, f.Year):
		return false
	case f.Feature != "" && !slices.Contains(d.Features, f.Feature):
		return false
	case f.Verdict != "" && string(c.verdictFor(who)) != f.Verdict:
		return false
	case f.Advice != "" && (d.Suggestion == nil || string(d.Suggestion.Verdict) != f.Advice):
		return false
	case f.Text != "":
		return f.finds(c, who)
	}
	return true
}

// finds looks for the words, in nothing that who may not see.
func (f *Filter) finds(c *Case, who string) bool {
	d := c.Candidate
	var b strings.Builder
	add := func(s string) { b.WriteString(strings.ToLower(s) + "\n") }
	for _, s := range []string{d.ID, d.Provenance.Heading, d.Provenance.Page, d.Original, d.Annotated} {
		add(s)
	}
	for _, m := range d.Conversation.Comments {
		add(m.Author + " " + m.Text)
	}
	if own := c.Of(who); own != nil {
		add(own.Question + "\n" + own.Query + "\n" + own.Note)
	}
	if c.State() == Resolved {
		add(c.Resolution.Question)
	}
	text := b.String()
	for _, w := range strings.Fields(strings.ToLower(f.Text)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// verdictFor gives the verdict that who is shown in lists: the resolution's, or the own one.
func (c *Case) verdictFor(who string) dataset.Verdict {
	if c.State() == Resolved {
		return c.Resolution.Verdict
	}
	if own := c.Of(who); own != nil {
		return own.Verdict
	}
	return ""
}

// cases reads everything, in the order of the candidates.
func (s *Server) cases(ctx context.Context) ([]Case, []Work, error) {
	candidates, _ := s.all()
	works, err := s.Store.Works(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	by := map[string][]Work{}
	for _, w := range works {
		by[w.Candidate] = append(by[w.Candidate], w)
	}
	out := make([]Case, len(candidates))
	for i := range candidates {
		out[i] = NewCase(&candidates[i], by[candidates[i].ID])
	}
	return out, works, nil
}

// among reads all cases and finds one of them. The error is fit for people.
func (s *Server) among(ctx context.Context, id string) ([]Case, *Case, error) {
	cases, _, err := s.cases(ctx)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(cases, func(c Case) bool { return c.Candidate.ID == id })
	if i < 0 {
		return nil, nil, missing(id)
	}
	return cases, &cases[i], nil
}

// row is a line of the queue.
type row struct {
	*Case
	URL     string
	Status  string // words
	Class   string // of the status, for colour
	Verdict dataset.Verdict
	Draft   bool
}

// rowFor says of a case what who may know.
func rowFor(c *Case, who string, f Filter) row {
	r := row{Case: c, URL: "/item/" + c.Candidate.ID + "?" + f.Query(), Verdict: c.verdictFor(who)}
	own := c.Of(who)
	mine := own != nil && own.Is()
	switch state := c.State(); {
	case state == Resolved:
		r.Status, r.Class = "resolved", "done"
		r.URL = "/compare/" + c.Candidate.ID + "?" + f.Query()
	case state == Disputed:
		r.Status, r.Class = "disputed", "bad"
	case state == Agreed:
		r.Status, r.Class = "to confirm", "good"
	case state == Annotated && mine:
		r.Status, r.Class = "waits for a second", "wait"
	case state == Annotated:
		r.Status, r.Class = "to validate", "wait"
	default:
		r.Status = "open"
	}
	if (r.Class == "bad" || r.Class == "good") && c.Visible(who) {
		r.URL = "/compare/" + c.Candidate.ID + "?" + f.Query()
	}
	r.Draft = own != nil && own.Verdict == "" && own.Version > 0
	return r
}

// pageSize is how many rows a page of the queue has.
const pageSize = 100

// queue shows the queue.
func (s *Server) queue(w http.ResponseWriter, r *http.Request, who string) error {
	cases, works, err := s.cases(r.Context())
	if err != nil {
		return err
	}
	f := readFilter(r.URL.Query())
	type tab struct {
		Box        Box
		Name, Hint string
		URL        string
		N          int
		Current    bool
	}
	tabs := make([]tab, len(boxes))
	var rows []row
	counts := map[State]int{}
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
		if !f.matches(c, who) {
			continue
		}
		for j, b := range boxes {
			if c.In(b.Box, who) {
				tabs[j].N++
			}
		}
		if c.In(f.Box, who) {
			rows = append(rows, rowFor(c, who, f))
		}
	}
	hint := ""
	for j, b := range boxes {
		g := f
		g.Box = b.Box
		tabs[j].Box, tabs[j].Name, tabs[j].Hint, tabs[j].URL, tabs[j].Current = b.Box, b.Name, b.Hint, "/?"+g.Query(), b.Box == f.Box
		if tabs[j].Current {
			hint = b.Hint
		}
	}
	total := len(rows)
	from := 0
	if _, err := fmt.Sscan(r.URL.Query().Get("from"), &from); err != nil || from < 0 || from >= total {
		from = 0
	}
	end := min(from+pageSize, total)
	filtered := f != Filter{Box: f.Box}
	s.show(w, http.StatusOK, "queue.html", &view{Title: "Queue", Who: who, Page: "queue", Data: map[string]any{
		"Tabs": tabs, "Hint": hint, "Rows": rows[from:end], "Total": total, "From": from, "First": from + 1, "To": end, "More": end < total, "Filter": f, "Filtered": filtered, "Years": sorted(years), "Features": sorted(features),
		"Flags": sorted(flags), "All": len(cases), "Resolved": counts[Resolved], "Decided": len(cases) - counts[Open], "People": people(works),
		"Verdicts": []string{"include", "modify", "exclude", "skip"}, "Advice": []string{"include", "modify", "exclude"},
	}})
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

// neighbours gives the addresses of the candidates before and after id among those that the filter chooses, and where id stands. At the end of the queue next is its first
// one; both are "" when there is no other.
func (s *Server) neighbours(cases []Case, f Filter, who, id string) (before, after string, at, total int) {
	var chosen []*Case
	here := -1
	for i := range cases {
		c := &cases[i]
		if c.Candidate.ID == id {
			here = len(chosen)
			chosen = append(chosen, c)
		} else if f.matches(c, who) && c.In(f.Box, who) {
			chosen = append(chosen, c)
		}
	}
	if here < 0 || len(chosen) < 2 {
		return "", "", here + 1, len(chosen)
	}
	return rowFor(chosen[(here+len(chosen)-1)%len(chosen)], who, f).URL, rowFor(chosen[(here+1)%len(chosen)], who, f).URL, here + 1, len(chosen)
}

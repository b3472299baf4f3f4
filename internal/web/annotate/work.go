package annotate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/spinachbot/spinachbot/dataset/annotate"
)

// assignedKey is the key of the note that records which candidates are assigned to whom.
const assignedKey = "annotate/assigned"

// assigned reads the candidate assignments.
func (s *Server) assigned(ctx context.Context) (annotate.Assignment, error) {
	if s.Notes == nil {
		return nil, nil
	}
	raw, ok, err := s.Notes.Get(ctx, assignedKey)
	if err != nil || !ok {
		return nil, err
	}
	var a annotate.Assignment
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("parsing the assignment of candidates: %w", err)
	}
	return a, nil
}

// everybody returns the names of all users to whom candidates can be assigned.
func (s *Server) everybody(ctx context.Context, works []annotate.Work) ([]string, error) {
	all := people(works)
	if s.People != nil {
		more, err := s.People(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return all, nil
}

// boss reports whether the sender of a request may assign candidates to annotators.
func (s *Server) boss(r *http.Request) bool { return s.Notes != nil && (s.Boss == nil || s.Boss(r)) }

// work shows which candidates are assigned to whom, how many candidates each pair of annotators shares, and how fast
// each annotator works.
func (s *Server) work(w http.ResponseWriter, r *http.Request, who string) error {
	cases, works, err := s.cases(r.Context())
	if err != nil {
		return err
	}
	events, err := s.Store.WorkEvents(r.Context(), "", "")
	if err != nil {
		return err
	}
	given, err := s.assigned(r.Context())
	if err != nil {
		return err
	}
	all, err := s.everybody(r.Context(), works)
	if err != nil {
		return err
	}
	chosen := map[string]bool{}
	overlap := 1
	for _, names := range given {
		overlap = max(overlap, len(names))
		for _, n := range names {
			chosen[n] = true
		}
	}
	if len(given) == 0 {
		overlap = 2
		for _, n := range all {
			chosen[n] = true
		}
	}
	s.show(w, r, "work", s.Site.Say(r, "annotate.work"), who, map[string]any{
		"Paces": annotate.Paces(cases, given, events, s.Now()), "Shared": given.Overlaps(), "Given": len(given),
		"All": len(cases), "People": all, "Chosen": chosen, "Overlap": overlap, "Boss": s.boss(r),
		"Accounts": s.Boss != nil && s.boss(r)}) // without Boss, there is no operator page
	return nil
}

// maxOverlap is the maximum number of annotators assigned to one candidate.
const maxOverlap = 10

func (s *Server) assign(w http.ResponseWriter, r *http.Request, _ string) error {
	if !s.boss(r) {
		return problem{http.StatusForbidden, "operator_only", nil}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		return problem{http.StatusBadRequest, "request", []any{"why", err.Error()}}
	}
	overlap, err := strconv.Atoi(r.PostForm.Get("overlap"))
	if err != nil || overlap < 1 || overlap > maxOverlap {
		return refuse("overlap", "most", maxOverlap)
	}
	cases, works, err := s.cases(r.Context())
	if err != nil {
		return err
	}
	all, err := s.everybody(r.Context(), works)
	if err != nil {
		return err
	}
	var names []string
	for _, n := range r.PostForm["who"] {
		if !slices.Contains(all, n) {
			return refuse("no_name", "name", n)
		}
		names = append(names, n)
	}
	if len(names) < overlap {
		return refuse("too_few", "n", overlap)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	given, err := s.assigned(r.Context())
	if err != nil {
		return err
	}
	raw, err := json.Marshal(annotate.Assign(cases, given, names, overlap))
	if err != nil {
		return err
	}
	if err := s.Notes.Put(r.Context(), assignedKey, raw); err != nil {
		return err
	}
	http.Redirect(w, r, s.Base+"/work", http.StatusSeeOther)
	return nil
}

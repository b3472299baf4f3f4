package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
)

// export writes the files from the stored data. They cover all pages, even those outside the requested months.
func (h *Harvest) export(ctx context.Context) (dataset.Funnel, error) {
	pages, err := h.Store.Pages(ctx)
	if err != nil {
		return dataset.Funnel{}, err
	}
	slices.SortFunc(pages, func(a, b Page) int {
		return strings.Compare(a.Month+" "+a.Title, b.Month+" "+b.Title)
	})
	near := newNearIndex()
	for _, b := range h.o.Benchmarks {
		for i := range b.Items {
			near.add(b.Items[i].ID, b.Name, b.Items[i].SPARQL)
		}
	}
	count := newCounting()
	err = h.each(ctx, pages, func(c *dataset.Candidate) error {
		count.add(c)
		if c.Stage == dataset.Staged {
			near.add(c.ID, ownSource, c.Cleaned)
		}
		return nil
	})
	if err != nil {
		return dataset.Funnel{}, err
	}
	funnel := count.funnel(pages)
	staged := map[string]bool{}
	write := func(name string, want func(*dataset.Candidate) bool) error {
		return dataset.ReplaceFileFunc(filepath.Join(h.o.Dir, name), func(w io.Writer) error {
			return h.each(ctx, pages, func(c *dataset.Candidate) error {
				if !want(c) {
					return nil
				}
				c.Near = near.near(c.ID)
				return dataset.WriteCandidate(w, c)
			})
		})
	}
	if err := write(dataset.CandidatesFile, func(c *dataset.Candidate) bool {
		staged[c.ID] = staged[c.ID] || c.Stage == dataset.Staged
		return c.Stage == dataset.Staged
	}); err != nil {
		return funnel, err
	}
	if err := write(dataset.RejectedFile, func(c *dataset.Candidate) bool {
		return c.Stage != dataset.Staged
	}); err != nil {
		return funnel, err
	}
	if err := h.writeFunnel(funnel); err != nil {
		return funnel, err
	}
	return funnel, h.sweep(staged)
}

// each calls f for every discussion, in file order.
func (h *Harvest) each(ctx context.Context, pages []Page, f func(*dataset.Candidate) error) error {
	for _, p := range pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, err := h.Store.Discussions(ctx, p.Title)
		if err != nil {
			return err
		}
		for i := range list {
			c, err := h.assess(ctx, list[i])
			if err != nil {
				return err
			}
			if err := f(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *Harvest) writeFunnel(f dataset.Funnel) error {
	err := dataset.ReplaceFileFunc(filepath.Join(h.o.Dir, dataset.FunnelFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(f)
	})
	if err != nil {
		return err
	}
	return dataset.ReplaceFileFunc(filepath.Join(h.o.Dir, dataset.FunnelPicture),
		func(w io.Writer) error { return Picture(w, f) })
}

// sweep removes results that do not belong to any staged candidate, such as those for discussions that no longer exist,
// or for queries that were edited and no longer return rows.
func (h *Harvest) sweep(staged map[string]bool) error {
	dir := filepath.Join(h.o.Dir, dataset.ResultsFolder)
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		id, _, _ := strings.Cut(f.Name(), ".")
		if dataset.ValidID(id) && !staged[id] || strings.HasSuffix(f.Name(), ".tmp") {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

type counting struct{ years map[int]*dataset.Counts }

func newCounting() *counting { return &counting{years: map[int]*dataset.Counts{}} }

func (k *counting) add(c *dataset.Candidate) {
	year, _ := strconv.Atoi(c.Provenance.Month[:min(4, len(c.Provenance.Month))])
	n := k.years[year]
	if n == nil {
		n = &dataset.Counts{Year: year, Rejected: map[dataset.Reason]int{}}
		k.years[year] = n
	}
	if c.Stage == dataset.Gone {
		n.Gone++
		return
	}
	n.Discussions++
	if c.Original != "" {
		n.WithQuery++
	}
	if c.Cleaned != "" {
		n.Valid++
	}
	switch c.Stage {
	case dataset.Found:
		n.Pending++
	case dataset.Rejected:
		n.Rejected[c.Reason]++
		if c.Reason == dataset.Empty || c.Reason == dataset.Scholarly || c.Reason == dataset.TooLarge {
			n.Run++
		}
	case dataset.Staged:
		n.Staged++
		n.Run++
	}
}

func (k *counting) funnel(pages []Page) dataset.Funnel {
	f := dataset.Funnel{Schema: 1, Total: dataset.Counts{Rejected: map[dataset.Reason]int{}}, Years: []dataset.Counts{}}
	for _, n := range k.years {
		f.Years = append(f.Years, *n)
		t := &f.Total
		t.Discussions, t.WithQuery, t.Valid, t.Run = t.Discussions+n.Discussions, t.WithQuery+n.WithQuery,
			t.Valid+n.Valid, t.Run+n.Run
		t.Staged, t.Gone, t.Pending = t.Staged+n.Staged, t.Gone+n.Gone, t.Pending+n.Pending
		for r, m := range n.Rejected {
			t.Rejected[r] += m
		}
	}
	slices.SortFunc(f.Years, func(a, b dataset.Counts) int { return a.Year - b.Year })
	for _, p := range pages {
		if p.Gone {
			f.Pages.Gone++
		} else {
			f.Pages.Read++
		}
	}
	f.Pages.Listed = f.Pages.Read + f.Pages.Gone
	return f
}

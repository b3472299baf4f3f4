package lookup

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// image is an index as bytes, which are searched in place.
type image struct {
	dir   *directory
	parts []*part

	mu      sync.Mutex
	meaning map[Type]*semantic
}

func newImage(b []byte) (im *image, err error) {
	defer guard(&err)
	d, err := readDirectory(b)
	if err != nil {
		return nil, err
	}
	im = &image{dir: d, meaning: map[Type]*semantic{}}
	for _, kind := range []Type{Entity, Property} {
		if _, ok := d.Parts[kind]; !ok {
			continue
		}
		p, err := newPart(b, d, kind)
		if err != nil {
			return nil, err
		}
		im.parts = append(im.parts, p)
	}
	return im, nil
}

// placed is a hit with its record.
type placed struct {
	found
	r record
}

func (p *part) placed(fs []found) (out []placed) {
	for _, f := range fs {
		out = append(out, placed{f, p.record(uint32(f.entry))})
	}
	return out
}

// search answers a query that was normalized with [Query.normal]. e may be nil.
func (im *image) search(ctx context.Context, q Query, e Embedder) (page Page, err error) {
	defer guard(&err)
	if q.Meaning {
		return im.byMeaning(ctx, q, e)
	}
	a := prepare(q)
	page.Ranked = ByWords
	if len(a.words) == 0 {
		return page, nil
	}
	// Entries for one IRI in several languages count as one hit, so more entries may be needed.
	for want := q.Offset + q.Limit + 1; ; want *= 2 {
		var all, held []placed
		only := true
		var last []found // last hit of each part that may have more hits
		for _, p := range im.parts {
			if q.Type != Any && q.Type != p.kind {
				continue
			}
			hits, back, err := p.byWords(ctx, &a, want, q.Among)
			if err != nil {
				return Page{}, err
			}
			for _, fs := range [][]found{hits, back} {
				if len(fs) >= want {
					last = append(last, fs[want-1])
				}
			}
			only = only && (len(hits) == 0 || hits[0].rank.tier == tierSome)
			all = append(all, p.placed(hits[:min(len(hits), want)])...)
			held = append(held, p.placed(back[:min(len(back), want)])...)
		}
		if only {
			all = append(all, held...)
		}
		slices.SortStableFunc(all, func(a, b placed) int {
			return cmp.Or(a.rank.compare(b.rank), cmp.Compare(b.r.Score, a.r.Score))
		})
		// If a part may have more hits, only the hits up to its last one are in their final order.
		if at := slices.IndexFunc(all, func(f placed) bool { return slices.Contains(last, f.found) }); at >= 0 {
			all = all[:at+1]
		}
		done := page.cut(q, len(all), func(i int) Hit {
			f := &all[i]
			return Hit{Entry: f.r.Entry, Name: f.r.text(uint32(f.name)), Match: f.rank.match()}
		}, im.in)
		if done || len(last) == 0 {
			return page, nil
		}
	}
}

// in is like get, but skips the lookup if the index has only one language, because then there cannot be a better entry.
func (im *image) in(iri, language string) (Entry, bool) {
	if slices.ContainsFunc(im.parts, func(p *part) bool { return len(p.size.Languages) > 1 }) {
		return im.get(iri, language)
	}
	return Entry{}, false
}

// get returns the entry for an IRI in the language that [Prefer] ranks first; among equally good entries, it returns
// the first.
func (im *image) get(iri, language string) (e Entry, ok bool) {
	for _, p := range im.parts {
		p.entriesOf(iri, func(i uint32) {
			if r := p.record(i); !ok || Prefer(r.Language, language) < Prefer(e.Language, language) {
				e, ok = r.Entry, true
			}
		})
		if ok {
			return e, true
		}
	}
	return e, false
}

package lesson

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Kind is what a lesson is used for.
type Kind string

// The kinds of lessons.
const (
	Remark    Kind = ""          // a note, which is shown with the graph
	Example   Kind = "example"   // a solved question, shown when a similar one is asked
	Candidate Kind = "candidate" // a solved question for a benchmark, shown only to annotators, never to a model
)

// Thread is the discussion that a lesson was learned from.
type Thread struct {
	Entry    string    `json:"entry"` // the ledger's entry for the answered request
	Page     string    `json:"page"`
	Heading  string    `json:"heading"`
	Link     string    `json:"link"`
	Revision int64     `json:"revision,omitempty"` // the page's revision with the query; 0 if unknown
	Author   string    `json:"author"`             // who wrote the query
	Date     time.Time `json:"date,omitzero"`
	License  string    `json:"license"`
}

// Was is an earlier version of a lesson's text.
type Was struct {
	Version int       `json:"version"`
	Text    string    `json:"text"`
	SPARQL  string    `json:"sparql,omitempty"`
	State   State     `json:"state"`
	Effect  string    `json:"effect,omitempty"`
	Until   time.Time `json:"until"`
}

// outdate adds the lesson's current text to its list of earlier versions.
func (n *Note) outdate(now time.Time) {
	n.Version = max(n.Version, 1)
	n.Was = append(n.Was, Was{n.Version, n.Text, n.SPARQL, n.State, n.Effect, now.UTC()})
	n.Version++
}

// maxQuestion is the maximum number of characters of a stranger's question that are stored.
const maxQuestion = 2000

// Correct adds what was learned from a correction, and reports whether the book changed. n.From describes the
// discussion. An answered request yields at most one lesson of each kind. If the text or query has changed since then,
// the lesson gets a new version, whose state is Proposed again. A withdrawn lesson is left unchanged.
func (b *Book) Correct(n Note) (id string, changed bool, err error) {
	if n.From == nil || n.From.Entry == "" {
		return "", false, fmt.Errorf("the correction has no discussion")
	}
	if n.Text, err = clean(n.Text); err != nil {
		return "", false, err
	}
	n.Question = text.Clip(strings.TrimSpace(n.Question), maxQuestion)
	notes, err := b.List()
	if err != nil {
		return "", false, err
	}
	i := slices.IndexFunc(notes, func(o Note) bool {
		return o.From != nil && o.From.Entry == n.From.Entry && o.Kind == n.Kind
	})
	if i < 0 {
		id, err = b.Add(n)
		return id, err == nil, err
	}
	old := notes[i]
	if old.State == Withdrawn || old.SPARQL == n.SPARQL && (n.Kind != Remark || old.learned() == n.Text) {
		return old.ID, false, nil
	}
	return old.ID, true, b.one(old.ID, func(o *Note) {
		o.outdate(b.now())
		o.Text, o.Question, o.SPARQL, o.From, o.State, o.Effect = n.Text, n.Question, n.SPARQL, n.From, Proposed, ""
	})
}

// Forget removes strangers' words from the lessons that were learned from these ledger entries. It returns the number
// of lessons that changed. Solved questions and candidates are deleted whatever their state, because they consist
// entirely of strangers' words. A note is in our own words, so only its reference to the discussion is removed.
func (b *Book) Forget(entries []string) (n int, err error) {
	if len(entries) == 0 {
		return 0, nil
	}
	concerned := func(o Note) bool { return o.From != nil && slices.Contains(entries, o.From.Entry) }
	notes, err := b.List()
	if err != nil || !slices.ContainsFunc(notes, func(o Note) bool { return concerned(o) && !o.forgotten() }) {
		return 0, err
	}
	err = b.change(func(notes []Note) ([]Note, error) {
		n = 0
		var left []Note
		for _, o := range notes {
			if concerned(o) && !o.forgotten() {
				if n++; o.Kind != Remark {
					continue
				}
				o.Source, o.Question, o.SPARQL, o.Changed = forgotten, "", "", b.now().UTC()
				o.From = &Thread{Entry: o.From.Entry, Date: o.From.Date, License: o.From.License}
			}
			left = append(left, o)
		}
		return left, nil
	})
	return n, err
}

// forgotten is the source of a note whose discussion is no longer on the wiki.
const forgotten = "the forum: a discussion that no longer exists"

func (n *Note) forgotten() bool { return n.Kind == Remark && n.Source == forgotten }

// learned returns a note's text as it was before a person edited it.
func (n *Note) learned() string {
	if len(n.Was) > 0 {
		return n.Was[0].Text
	}
	return n.Text
}

// Try returns a book that also shows some unapproved lessons, so that their effect can be measured. For an unknown ID,
// it returns [ErrNone].
func (b *Book) Try(ids []string) (*Book, error) {
	out := &Book{path: b.path, now: b.now, tried: map[string]bool{}}
	for _, id := range ids {
		if _, err := b.Get(id); err != nil {
			return nil, err
		}
		out.tried[id] = true
	}
	return out, nil
}

// shown reports whether models see a lesson.
func (b *Book) shown(n *Note) bool { return n.State == Approved || b.tried[n.ID] }

// Examples returns the approved solved questions, for [dataset/examples].
func (b *Book) Examples() ([]dataset.Item, error) {
	return b.items(func(n *Note) bool { return n.Kind == Example && b.shown(n) })
}

// Candidates returns the approved candidates for a benchmark.
func (b *Book) Candidates() ([]dataset.Item, error) {
	return b.items(func(n *Note) bool { return n.Kind == Candidate && b.shown(n) })
}

func (b *Book) items(want func(*Note) bool) ([]dataset.Item, error) {
	notes, err := b.List()
	if err != nil {
		return nil, err
	}
	var out []dataset.Item
	for _, n := range notes {
		if !want(&n) {
			continue
		}
		it := dataset.Item{ID: "forum-" + n.ID, Question: n.Question, SPARQL: n.SPARQL}
		if n.From != nil {
			it.Title, it.URL = n.From.Heading, n.From.Link
			from, err := json.Marshal(n.From)
			if err != nil {
				return nil, err
			}
			it.Info = map[string]json.RawMessage{"from": from}
		}
		out = append(out, it)
	}
	return out, nil
}

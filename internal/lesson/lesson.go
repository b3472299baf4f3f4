// Package lesson stores what was learned: notes on graphs from earlier runs, one or two sentences each, and corrections
// made by users on the forum. Each lesson records its source and its measured effect. Lessons come from text that
// strangers wrote: a model writes them, or they are derived from a query's structure. Therefore, a model is shown only
// lessons that a person has approved, and sees them as data rather than as instructions.
//
//	lesson.go      the book: notes, their states, which of them are shown
//	correction.go  what is learned from a correction on the forum: a solved question, a note, a benchmark candidate
//	properties.go  a note in our own words from the structure of two queries
package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

// MaxNotes limits the number of notes on each graph and the number of general notes. MaxText limits the length of a
// note in characters. Both are GRASP's limits.
const (
	MaxNotes = 16
	MaxText  = 512
)

// State describes whether a note was approved.
type State string

// The states.
const (
	Proposed  State = "proposed"  // learned, but not yet read by a person
	Approved  State = "approved"  // shown to models
	Withdrawn State = "withdrawn" // withdrawn by a person; kept so that it is not learned again
)

// Note is one lesson.
type Note struct {
	ID      string    `json:"id"`           // n1, n2, …
	KG      string    `json:"kg,omitempty"` // name of the graph; "" for all
	Text    string    `json:"text"`
	State   State     `json:"state"`
	Source  string    `json:"source"` // the runs that it was learned from, or who wrote it
	Model   string    `json:"model,omitempty"`
	Made    time.Time `json:"made"`
	Changed time.Time `json:"changed,omitzero"` // when the text or state last changed
	Effect  string    `json:"effect,omitempty"` // the measured effect: figures with and without it, questions, date

	Kind     Kind    `json:"kind,omitempty"`
	Question string  `json:"question,omitempty"` // for a solved question: what a stranger asked
	SPARQL   string  `json:"sparql,omitempty"`   // the query that answered it
	From     *Thread `json:"from,omitempty"`     // the discussion that it was learned from
	Version  int     `json:"version,omitempty"`  // version number of its current text, starting at 1; 0 in old files
	Was      []Was   `json:"was,omitempty"`      // earlier versions of its text, oldest first
}

// Book is a file of notes, one JSON object per line. It is safe for concurrent use within one process; each change
// replaces the whole file.
type Book struct {
	path  string
	now   func() time.Time
	tried map[string]bool // IDs of unapproved notes that are shown anyway
	mu    sync.Mutex
}

// Open returns the book in a file, which need not exist yet. now is the clock used to date the notes.
func Open(path string, now func() time.Time) *Book { return &Book{path: path, now: now} }

// ErrNone means that there is no note with the given ID.
var ErrNone = errors.New("there is no such note")

// List returns all notes in the order in which they were added.
func (b *Book) List() ([]Note, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read()
}

func (b *Book) read() ([]Note, error) {
	content, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the notes cannot be read: %w", err)
	}
	var out []Note
	for i, line := range bytes.Split(content, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var n Note
		if err := json.Unmarshal(line, &n); err != nil {
			return nil, fmt.Errorf("%s: line %d is not a note: %w", b.path, i+1, text.JSON(err))
		}
		if err := n.check(out); err != nil {
			return nil, fmt.Errorf("%s: line %d is not a note: %w; correct or delete the line", b.path, i+1, err)
		}
		out = append(out, n)
	}
	return out, nil
}

// check validates a note, given the notes before it in the file.
func (n *Note) check(before []Note) error {
	switch {
	case n.ID == "":
		return errors.New("it has no \"id\"")
	case strings.TrimSpace(n.Text) == "":
		return errors.New("it has no \"text\"")
	case !slices.Contains([]Kind{Remark, Example, Candidate}, n.Kind):
		return fmt.Errorf("its \"kind\" is %q; want example or candidate, or none for a note", n.Kind)
	case n.Kind != Remark && (n.SPARQL == "" || n.Question == ""):
		return errors.New("it is a solved question without \"question\" or \"sparql\"")
	case !slices.Contains([]State{Proposed, Approved, Withdrawn}, n.State):
		return fmt.Errorf("its \"state\" is %q; want proposed, approved or withdrawn", n.State)
	case slices.ContainsFunc(before, func(o Note) bool { return o.ID == n.ID }):
		return fmt.Errorf("an earlier note has the same ID, %q", n.ID)
	}
	return nil
}

// change reads the notes, changes them and writes them back.
func (b *Book) change(f func(notes []Note) ([]Note, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes, err := b.read()
	if err != nil {
		return err
	}
	if notes, err = f(notes); err != nil {
		return err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, n := range notes {
		if err := enc.Encode(n); err != nil {
			return err
		}
	}
	return dataset.ReplaceFile(b.path, buf.Bytes())
}

// Get returns the note with the given ID, or [ErrNone].
func (b *Book) Get(id string) (Note, error) {
	notes, err := b.List()
	if err != nil {
		return Note{}, err
	}
	if i := slices.IndexFunc(notes, func(n Note) bool { return n.ID == id }); i >= 0 {
		return notes[i], nil
	}
	return Note{}, fmt.Errorf("%w: %s", ErrNone, text.OneLine(text.Clip(id, 40)))
}

// clean normalizes a note's text to one line without control characters. The error is worded for a model.
func clean(s string) (string, error) {
	s = text.OneLine(s)
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return "", errors.New("the note is empty")
	case n > MaxText:
		return "", fmt.Errorf("the note is %d characters long, at most %d are allowed: shorten it", n, MaxText)
	}
	return s, nil
}

// Add adds a proposed note on a graph and returns its ID. It rejects text that already exists, even in a withdrawn
// note, and any note beyond [MaxNotes].
func (b *Book) Add(n Note) (id string, err error) {
	if n.Text, err = clean(n.Text); err != nil {
		return "", err
	}
	err = b.change(func(notes []Note) ([]Note, error) {
		live, last := 0, 0
		for _, o := range notes {
			if strings.EqualFold(o.Text, n.Text) && o.KG == n.KG && o.Kind == n.Kind && n.Kind == Remark {
				return nil, fmt.Errorf("the note already exists, as %s (%s)", o.ID, o.State)
			}
			if o.KG == n.KG && o.State != Withdrawn && o.Kind == Remark {
				live++
			}
			if k, err := strconv.Atoi(strings.TrimPrefix(o.ID, "n")); err == nil {
				last = max(last, k)
			}
		}
		if live >= MaxNotes && n.Kind == Remark {
			return nil, fmt.Errorf("there are %d notes already, which is the most: merge some with update_note and delete_note first", live)
		}
		n.ID, n.State, n.Made, n.Changed = "n"+strconv.Itoa(last+1), Proposed, b.now().UTC(), time.Time{}
		n.Version = 1
		id = n.ID
		return append(notes, n), nil
	})
	return id, err
}

// Edit changes a note's text. The note becomes proposed again, since the text that a person approved was different.
func (b *Book) Edit(id, to string) error {
	to, err := clean(to)
	if err != nil {
		return err
	}
	return b.one(id, func(n *Note) {
		n.outdate(b.now())
		n.Text, n.State, n.Effect = to, Proposed, ""
	})
}

// ErrNotMeasured means that the effect of a lesson from the forum has not been measured.
var ErrNotMeasured = errors.New("its effect has not been measured")

// Approve makes a note visible to models. A note that was learned from the forum must be measured first, unless
// unmeasured is set; otherwise Approve returns [ErrNotMeasured]. A benchmark candidate does not need to be measured,
// because no model sees it.
func (b *Book) Approve(id string, unmeasured bool) error {
	return b.change(func(notes []Note) ([]Note, error) {
		i := slices.IndexFunc(notes, func(n Note) bool { return n.ID == id })
		switch {
		case i < 0:
			return nil, fmt.Errorf("%w: %s", ErrNone, text.OneLine(text.Clip(id, 40)))
		case notes[i].From != nil && notes[i].Kind != Candidate && notes[i].Effect == "" && !unmeasured:
			return nil, fmt.Errorf("%s: %w", id, ErrNotMeasured)
		}
		notes[i].State, notes[i].Changed = Approved, b.now().UTC()
		return notes, nil
	})
}

// Set changes a note's state.
func (b *Book) Set(id string, s State) error { return b.one(id, func(n *Note) { n.State = s }) }

// Measured records the measured effect of a note.
func (b *Book) Measured(id, effect string) error {
	return b.one(id, func(n *Note) { n.Effect = text.OneLine(effect) })
}

// Delete removes a note that no human has read.
func (b *Book) Delete(id string) error {
	return b.change(func(notes []Note) ([]Note, error) {
		i := slices.IndexFunc(notes, func(n Note) bool { return n.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: %s", ErrNone, text.OneLine(text.Clip(id, 40)))
		}
		if notes[i].State != Proposed {
			return nil, fmt.Errorf("the note %s is %s, which only a person can change", id, notes[i].State)
		}
		return slices.Delete(notes, i, i+1), nil
	})
}

func (b *Book) one(id string, f func(*Note)) error {
	return b.change(func(notes []Note) ([]Note, error) {
		i := slices.IndexFunc(notes, func(n Note) bool { return n.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: %s", ErrNone, text.OneLine(text.Clip(id, 40)))
		}
		f(&notes[i])
		notes[i].Changed = b.now().UTC()
		return notes, nil
	})
}

// For returns the notes for a prompt: the approved notes on a graph and those on all graphs, at most [MaxNotes] of
// each.
func (b *Book) For(kg string) ([]string, error) {
	notes, err := b.List()
	if err != nil {
		return nil, err
	}
	var own, general []string
	for _, n := range notes {
		switch {
		case !b.shown(&n) || n.Kind != Remark:
		case n.KG == kg && kg != "":
			own = append(own, text.Clip(n.Text, MaxText))
		case n.KG == "":
			general = append(general, text.Clip(n.Text, MaxText))
		}
	}
	return append(own[:min(len(own), MaxNotes)], general[:min(len(general), MaxNotes)]...), nil
}

// Taker is a note-taker's view of the book: it sees the notes on one graph, adds to them, and changes or deletes those
// that no human has read.
type Taker struct {
	Book   *Book
	KG     string
	Source string // the source recorded for added notes
	Model  string
}

// Add adds a note. Errors are for the model.
func (t Taker) Add(s string) (string, error) {
	return t.Book.Add(Note{KG: t.KG, Text: s, Source: t.Source, Model: t.Model})
}

// Update changes a note.
func (t Taker) Update(id, s string) error {
	n, err := t.Book.Get(id)
	switch {
	case err != nil:
		return err
	case n.State != Proposed || n.KG != t.KG:
		return fmt.Errorf("the note %s is not yours to change: add another one", n.ID)
	}
	return t.Book.Edit(id, s)
}

// Delete removes a note.
func (t Taker) Delete(id string) error {
	n, err := t.Book.Get(id)
	switch {
	case err != nil:
		return err
	case n.KG != t.KG:
		return fmt.Errorf("the note %s is not yours to delete", n.ID)
	}
	return t.Book.Delete(id)
}

// Lines returns the notes, one per line.
func (t Taker) Lines() ([]string, error) {
	notes, err := t.Book.List()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range notes {
		if n.KG == t.KG && n.State != Withdrawn && n.Kind == Remark {
			out = append(out, fmt.Sprintf("%s (%s): %s", n.ID, n.State, n.Text))
		}
	}
	return out, nil
}

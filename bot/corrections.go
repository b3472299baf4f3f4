package bot

import (
	"slices"
	"time"
)

// Correction is a query that people accepted instead of the query in one of our replies.
type Correction struct {
	Entry    *Entry    // the thread's first answered request
	Question string    // the question as the agent understood it
	Ours     string    // the query that was corrected; "" if there was none
	Theirs   string    // the query that was accepted
	Author   string    // author of Theirs; the bot's account if the answer to a follow-up was accepted
	Account  bool      // Theirs is our own answer to a follow-up
	Revision int64     // page revision that contains Theirs; 0 if unknown
	Date     time.Time // time of the comment with Theirs
}

// Corrections returns the corrections of our replies, in the order of the requests. A correction is either someone
// else's query in one of our threads, if it returns rows that differ from ours, or our own answer to a follow-up that
// said what was wrong, if the asker thanked us for it. account is the name of the bot's account.
//
// Corrections that were rejected, struck out or removed are left out.
func Corrections(entries []*Entry, account string) []Correction {
	var out []Correction
	for _, e := range entries {
		if e.State != Posted || e.Kind != Request || e.Draft == nil || e.Question == "" {
			continue
		}
		c := Correction{Entry: e, Question: e.Question, Ours: e.Draft.Turn.SPARQL}
		if f := acceptedFollowUp(entries, e); f != nil {
			c.Question, c.Theirs, c.Author, c.Account = f.Question, f.Draft.Turn.SPARQL, account, true
			c.Revision, c.Date = f.Rev, f.Updated
		}
		if s := e.solved(entries); s != nil {
			c.Question, c.Account = e.Question, false
			c.Theirs, c.Author, c.Revision, c.Date = s.SPARQL, s.By, s.Rev, s.Posted
		}
		if c.Theirs != "" && c.Theirs != c.Ours {
			out = append(out, c)
		}
	}
	return out
}

// acceptedFollowUp returns our last answer to a follow-up by the asker that has a query and received thanks, or nil.
func acceptedFollowUp(entries []*Entry, first *Entry) (found *Entry) {
	for _, f := range entries {
		if f.sameThread(first) && f.State == Posted && f.Kind == FollowUp && f.Draft != nil && f.Draft.Turn.SPARQL != "" &&
			f.Author == first.Author && f.is(Thanked) && !f.failed() {
			found = f
		}
	}
	return found
}

// solved returns the newest query by someone else in the entry's thread that returned rows different from ours.
func (e *Entry) solved(entries []*Entry) (s *Solution) {
	for _, other := range entries {
		if !other.sameThread(e) || other.Solution == nil {
			continue
		}
		if o := other.Solution; o.Failed == "" && !o.Same && o.Rows > 0 && (s == nil || o.At.After(s.At)) {
			s = o
		}
	}
	return s
}

func (e *Entry) sameThread(other *Entry) bool {
	return e.Page == other.Page && (e == other || e.Thread != "" && e.Thread == other.Thread)
}

// failed reports whether people rejected a reply, or whether the operator removed it.
func (e *Entry) failed() bool {
	return e.Undone != nil || slices.ContainsFunc([]Verdict{Refused, Struck, Removed}, e.is)
}

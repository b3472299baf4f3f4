package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

// savedBefore searches the page's history for an edit with the entry's key in its summary or, if the summary is hidden,
// the entry's marker in its text. It finds our reply even if the section has since been archived or the reply removed.
// A hidden edit whose text is also hidden may be ours if it was made while our save was in progress. Only the operator
// can tell, so the entry is abandoned, and only [Retry] reopens it.
//
// For an entry without a save, it finds a reply that was posted while another ledger was in use and then removed: this
// ledger may be new or restored from a backup.
//
// If done is true, there is nothing more to do for the entry in this round.
func (b *Bot) savedBefore(ctx context.Context, e *Entry) (done bool, err error) {
	since := e.Created.Add(-b.cfg.AnswerWithin) // an unsigned comment may be older than its entry
	switch {
	case e.Save != nil:
		since = e.Save.First
	case e.Time != nil:
		since = *e.Time
	}
	edits, err := b.wiki.OwnEdits(ctx, b.title, since.Add(-clockSlack))
	if err != nil {
		b.lg.Warn("held: the account's own edits cannot be read", "entry", e.Key, "err", err)
		return true, ctx.Err()
	}
	var hidden int64
	for _, edit := range edits {
		switch {
		case strings.Contains(edit.Summary, e.Key), edit.Hidden && forum.FindMarker(edit.Text, e.Key) >= 0:
			return true, b.posted(ctx, e, edit.RevID, "our edit was found in the history")
		case edit.Hidden && edit.TextHidden && e.Save != nil && e.Save.mayBe(edit, b.grace(e.Save)):
			hidden = max(hidden, edit.RevID)
		}
	}
	if hidden == 0 {
		return false, nil
	}
	e.Save.Unclear = hidden
	return true, b.set(ctx, e, GaveUp, fmt.Sprintf("unknown whether the reply was posted: revision %d was made while "+
		"it was being saved, and the wiki hides it. Ask an administrator whether that was our reply. If it was not, "+
		"run: spinachbot ledger retry %s", hidden, e.Key))
}

// next returns the record of another attempt to save. wiki is the last known time on the wiki's clock, which may be
// much later than edit.Start if the process was paused.
func (s *Save) next(edit Edit, now, wiki time.Time) *Save {
	n := &Save{BaseRev: edit.BaseRev, Section: edit.Section, At: now,
		First: edit.Start, FirstRev: edit.BaseRev, Last: edit.Start}
	if wiki.After(n.Last) {
		n.Last = wiki
	}
	if s == nil {
		return n
	}
	n.Unclear, n.Cleared, n.NoTools = s.Unclear, s.Cleared, s.NoTools
	if s.First.Before(n.First) {
		n.First = s.First
	}
	if !s.NothingSaved {
		n.FirstRev = s.FirstRev
	}
	return n
}

// sure reports whether it is certain that nothing has been saved so far.
func (s *Save) sure() bool { return s == nil || s.NothingSaved }

// mayBe reports whether a hidden edit may be one of the attempts. It may if it was made after the base revision of the
// first attempt and not long after the last attempt.
func (s *Save) mayBe(edit OwnEdit, grace time.Duration) bool {
	switch {
	case s.NothingSaved, edit.RevID <= s.FirstRev, edit.RevID <= s.Cleared:
		return false
	}
	return s.Last.IsZero() || !edit.Time.After(s.Last.Add(grace+clockSlack))
}

// unclear reports whether the entry was abandoned because a hidden edit may be its reply.
func (e *Entry) unclear() bool { return e.Save != nil && e.Save.Unclear > e.Save.Cleared }

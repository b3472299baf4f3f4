package bot

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

// digestNote records the last day whose digest was, or may have been, sent to the wiki. It is written before the edit.
// If the edit's outcome is unknown, the bot waits until the edit can no longer arrive and then searches the page and
// its history for it, as for a reply. If it does not find the edit, it makes another one; if the first one still
// arrives, the two conflict.
type digestNote struct {
	Day   string `json:"day"`
	Rev   int64  `json:"rev,omitempty"`   // 0 if unknown
	Save  *Save  `json:"save,omitempty"`  // a save with an unknown outcome
	Tries int    `json:"tries,omitempty"` // number of edits with an unknown outcome on that day
}

func (b *Bot) digestKey() string { return "bot/digest/" + PageName(b.cfg.Wiki, b.cfg.DigestPage) }

// checkDigest returns an error if the digest's page or hour is invalid.
func (c *Config) checkDigest() error {
	if c.DigestPage == "" {
		return nil
	}
	if c.DigestHour > 23 {
		return fmt.Errorf("the digest's hour is %d; it must be 0 to 23", c.DigestHour)
	}
	return c.checkOwn("the digest", c.DigestPage, "digest")
}

// WriteDigest writes the digest of the past 24 hours to the digest page, above earlier digests, once a day after the
// configured hour. It does nothing if no digest page is configured or posting is off. write returns the section for the
// period between two times, with the date as its heading.
//
// WriteDigest applies only the gate checks that do not depend on a reply: posting mode, operator's stop, stop page,
// {{nobots}}. The page must exist, because the bot does not create it. Only one process may call WriteDigest.
func (b *Bot) WriteDigest(ctx context.Context,
	write func(ctx context.Context, from, to time.Time) (string, error)) error {
	now := b.now().UTC()
	if b.cfg.DigestPage == "" || b.cfg.Posting == Off || now.Hour() < b.cfg.DigestHour {
		return nil
	}
	today := now.Format(time.DateOnly)
	var note digestNote
	_, err := getNote(ctx, b.store, b.digestKey(), &note)
	if err != nil || note.Day == today && (note.Save == nil || note.Tries >= maxConflicts) {
		return err
	}
	text, err := write(ctx, now.AddDate(0, 0, -1), now)
	if err != nil {
		return err
	}
	for range maxConflicts {
		err = b.writeDigest(ctx, today, text, note)
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrStale) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("the digest for %s is not on %s: %w", today, b.cfg.DigestPage, err)
	}
	return nil
}

var digestHeading = regexp.MustCompile(`(?m)^=.*=[ \t]*$`)

// writeDigest makes one attempt to write the digest. before is the last note, from this day or an earlier one.
func (b *Bot) writeDigest(ctx context.Context, day, text string, before digestNote) error {
	run, err := b.stopPage(ctx)
	if err != nil {
		return err
	}
	if run.reason != "" {
		return errors.New(run.reason)
	}
	rev, err := b.wiki.Page(ctx, b.cfg.DigestPage)
	if err != nil {
		return err
	}
	if rev.Missing {
		return errors.New("there is no such page: create it, with a line about its purpose")
	}
	if forum.Denied(rev.Text, b.cfg.Account) {
		return errors.New("the page does not allow bots")
	}
	lead := rev.Text
	if at := digestHeading.FindStringIndex(rev.Text); at != nil {
		lead = rev.Text[:at[0]]
	}
	if strings.ContainsAny(lead, "<{") {
		return errors.New("the page has < or { above its first heading, so it is unclear where that part ends; remove them")
	}
	summary := "Digest of " + day
	note := digestNote{Day: day, Tries: 1}
	if before.Day == day {
		note.Save, note.Tries = before.Save, before.Tries+1
		if done, err := b.digestSent(ctx, before, summary, rev); done || err != nil {
			return err
		}
	}
	if strings.Contains(rev.Text, "== "+day+" ==") {
		return putNote(ctx, b.store, b.digestKey(), digestNote{Day: day, Rev: rev.ID})
	}
	lead = strings.TrimLeft(strings.TrimRight(lead, "\n")+"\n\n", "\n")
	if why, err := b.halted(ctx); err != nil {
		return err
	} else if why != "" {
		return errors.New(why)
	}
	// Section 0 is the part above the first heading, so the other days are left unchanged.
	edit := Edit{Title: b.cfg.DigestPage, Section: 0, Text: lead + text, BaseRev: rev.ID,
		Start: rev.Now, SendBefore: run.until, Summary: fmt.Sprintf("%s ([[%s|about this bot]])", summary, b.cfg.TaskPage)}
	note.Save = note.Save.next(edit, b.now(), run.now)
	if err := putNote(ctx, b.store, b.digestKey(), note); err != nil {
		return err
	}
	saved, err := b.wiki.Save(ctx, edit)
	switch {
	case err == nil:
		return putNote(context.WithoutCancel(ctx), b.store, b.digestKey(), digestNote{Day: day, Rev: saved})
	case errors.Is(err, ErrConflict), errors.Is(err, ErrStale), errors.Is(err, ErrNotSaved):
		// These errors mean that the edit was not saved.
		return errors.Join(err, putNote(context.WithoutCancel(ctx), b.store, b.digestKey(), before))
	case errors.Is(err, ErrRefused), errors.Is(err, ErrBlocked):
		// Do not retry on this day.
		return errors.Join(err, putNote(context.WithoutCancel(ctx), b.store, b.digestKey(), digestNote{Day: day}))
	}
	return err // unknown outcome
}

// digestSent searches for a digest that was sent in an edit with an unknown outcome. done means that nothing needs to
// be written now.
func (b *Bot) digestSent(ctx context.Context, note digestNote, summary string, rev *Revision) (done bool, err error) {
	if strings.Contains(rev.Text, "== "+note.Day+" ==") {
		return true, putNote(ctx, b.store, b.digestKey(), digestNote{Day: note.Day, Rev: rev.ID})
	}
	if b.mayArrive(&view{asked: b.now(), now: rev.Now}, note.Save) {
		return true, nil
	}
	edits, err := b.wiki.OwnEdits(ctx, b.cfg.DigestPage, note.Save.First.Add(-clockSlack))
	for _, edit := range edits {
		if edit.RevID > note.Save.FirstRev && (edit.Hidden || strings.HasPrefix(edit.Summary, summary)) {
			return true, putNote(ctx, b.store, b.digestKey(), digestNote{Day: note.Day, Rev: edit.RevID})
		}
	}
	return false, err
}

package annotate

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
)

// Box is a named part of an annotator's queue.
type Box string

// The boxes. A candidate is in at most one of todo, validate, skipped, and mine. It may also be in some of the other
// boxes.
const (
	Todo     Box = "todo"     // no one has given a verdict
	Validate Box = "validate" // another annotator has given a verdict, which is not visible
	Skipped  Box = "skipped"  // put off
	Mine     Box = "mine"     // I have decided
	Confirm  Box = "confirm"  // the verdicts agree
	Differ   Box = "disputed" // the verdicts or the queries differ
	Done     Box = "resolved"
	Every    Box = "all"
	ForMe    Box = "assigned" // assigned to me and not yet decided
)

// In reports whether the case is in box b of the annotator named who.
func (c *Case) In(b Box, who string) bool {
	own := c.Of(who)
	state := c.State()
	decidedByMe := own != nil && own.HasVerdict()
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
	case ForMe:
		return slices.Contains(c.Assigned, who) && !decidedByMe && !skipped && state != Resolved
	}
	return true
}

// Visible reports whether the annotator named who may see other annotators' work on the case: after this annotator or
// two others have decided, or after the case is resolved.
func (c *Case) Visible(who string) bool {
	own := c.Of(who)
	return own != nil && own.HasVerdict() || len(c.Decided()) >= 2 || c.State() == Resolved
}

// Filter selects candidates in the queue. Empty fields match all candidates.
type Filter struct {
	Box     Box
	Flag    string // a [dataset.FlagKind], or "none"
	Year    string
	Feature string
	Verdict string // my verdict, or the resolution's
	Advice  string // the model's verdict
	Text    string // words that must all occur in the heading, discussion, queries, or my question
}

// Matches reports whether a case matches every part of the filter except the box.
func (f *Filter) Matches(c *Case, who string) bool {
	d := c.Candidate
	switch {
	case f.Flag == "none" && len(d.Flags) > 0:
		return false
	case f.Flag != "" && f.Flag != "none" && !slices.ContainsFunc(d.Flags,
		func(x dataset.Flag) bool { return string(x.Kind) == f.Flag }):
		return false
	case f.Year != "" && !strings.HasPrefix(d.Provenance.Month, f.Year):
		return false
	case f.Feature != "" && !slices.Contains(d.Features, f.Feature):
		return false
	case f.Verdict != "" && string(c.VerdictFor(who)) != f.Verdict:
		return false
	case f.Advice != "" && (d.Suggestion == nil || string(d.Suggestion.Verdict) != f.Advice):
		return false
	case f.Text != "":
		return f.finds(c, who)
	}
	return true
}

// finds reports whether the words of the Text filter occur in the text that the annotator may see.
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

// VerdictFor returns the verdict that lists show to the annotator named who: the resolution's or the annotator's own.
func (c *Case) VerdictFor(who string) dataset.Verdict {
	if c.State() == Resolved {
		return c.Resolution.Verdict
	}
	if own := c.Of(who); own != nil {
		return own.Verdict
	}
	return ""
}

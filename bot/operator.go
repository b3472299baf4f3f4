package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Act is an operator's action on an entry.
type Act string

// The actions.
const (
	ActApprove Act = "approve"
	ActEdit    Act = "edit"
	ActReject  Act = "reject"
	ActRetry   Act = "retry"
	ActUndo    Act = "undo"
)

var actsOn = map[Act][]State{
	ActApprove: {Proposed},
	ActEdit:    {Proposed, Approved},
	ActReject:  {Noticed, Accepted, Proposed, Approved},
	ActRetry:   {GaveUp, Skipped, Rejected, Proposed, Accepted, Noticed},
	ActUndo:    {Posted},
}

// On returns the states of an entry in which the action is allowed.
func (a Act) On() []State { return actsOn[a] }

// List returns the entries in the given states, oldest first, or all entries if no state is given.
func List(ctx context.Context, ledger Ledger, states ...State) ([]*Entry, error) {
	return ledger.Entries(ctx, Filter{States: states})
}

// Find returns the entry whose key is id or, if there is none, the only entry whose key starts with id or "sb-"+id.
func Find(ctx context.Context, ledger Ledger, id string) (*Entry, error) {
	e, err := ledger.Entry(ctx, id)
	if err == nil || !errors.Is(err, ErrNoEntry) {
		return e, err
	}
	all, err := ledger.Entries(ctx, Filter{})
	if err != nil {
		return nil, err
	}
	var found []*Entry
	for _, e := range all {
		if id != "" && (strings.HasPrefix(e.Key, id) || strings.HasPrefix(e.Key, "sb-"+id)) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q (`ledger list` shows them)", ErrNoEntry, id)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d entries start with %q: enter more of the key", len(found), id)
}

// ErrOtherDraft means that the operator was shown a different draft. Show the current one.
var ErrOtherDraft = errors.New("the reply has changed since it was shown: review it again")

// shown checks that the entry's draft still has the name that [Draft.Name] returned earlier; "" matches any draft.
func (e *Entry) shown(name string) error {
	switch {
	case e.Draft == nil:
		return errors.New("it has no draft")
	case name != "" && name != e.Draft.Name():
		return ErrOtherDraft
	}
	return nil
}

// Approve allows a proposed reply to be posted in the bot's next round. by is the operator's name, for the record.
func Approve(ctx context.Context, ledger Ledger, now time.Time, key, by string) (*Entry, error) {
	return ApproveShown(ctx, ledger, now, key, "", by)
}

// ApproveShown is like [Approve] for the draft that the operator was shown, identified by its [Draft.Name]. If the
// draft has changed since then, it returns [ErrOtherDraft].
func ApproveShown(ctx context.Context, ledger Ledger, now time.Time, key, shown, by string) (*Entry, error) {
	return change(ctx, ledger, key, ActApprove, func(e *Entry) error {
		if err := e.shown(shown); err != nil {
			return err
		}
		e.ApprovedBy, e.NotBefore = by, time.Time{}
		return e.move(now, Approved, "approved by "+by)
	})
}

// Reject ensures that nothing is posted for an entry. It fails once a save, which cannot be canceled, has started.
func Reject(ctx context.Context, ledger Ledger, now time.Time, key, why string) (*Entry, error) {
	return change(ctx, ledger, key, ActReject, func(e *Entry) error { return e.move(now, Rejected, why) })
}

// Retry makes the bot judge and answer an entry again. The entry may have been abandoned, skipped or rejected; it may
// have a draft that the operator does not like; or it may be waiting its turn. A skipped entry will be answered even
// though triage did not consider it a request. Retry fails if the reply has been posted or is about to be.
func Retry(ctx context.Context, ledger Ledger, now time.Time, key string) (*Entry, error) {
	return change(ctx, ledger, key, ActRetry, func(e *Entry) error {
		e.Starts, e.Failures, e.Saves, e.Edits, e.NotBefore, e.Draft, e.ApprovedBy, e.Lapsed = 0, 0, 0, 0,
			time.Time{},
			nil, "", false
		e.Deadline = time.Time{}
		if e.Save != nil {
			e.Save.Cleared = e.Save.Unclear
		}
		e.Forced = e.Forced || e.State == Skipped || e.State == Rejected || e.State == GaveUp || e.Queued
		return e.move(now, Noticed, "the operator asked to try again")
	})
}

// orList formats a list of states as "a, b or c".
func orList(states []State) string {
	var b strings.Builder
	for i, s := range states {
		switch {
		case i > 0 && i == len(states)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// change reads an entry, changes it if its state allows the action, and writes it. If someone else changes the entry in
// the meantime, change starts over.
func change(ctx context.Context, ledger Ledger, key string, what Act,
	f func(*Entry) error) (*Entry, error) {
	for {
		e, err := Find(ctx, ledger, key)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(what.On(), e.State) {
			return nil, fmt.Errorf("%s %s: it is %s; this is possible for an entry that is %s", what, e.Key, e.State,
				orList(what.On()))
		}
		if err := f(e); err != nil {
			return nil, fmt.Errorf("%s %s: %w", what, e.Key, err)
		}
		err = ledger.Update(ctx, e)
		if errors.Is(err, ErrChanged) {
			continue
		}
		return e, err
	}
}

package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// List returns the entries in the states named, oldest first; all of them when none is named.
func List(ctx context.Context, ledger Ledger, states ...State) ([]*Entry, error) {
	return ledger.Entries(ctx, Filter{States: states})
}

// Find returns the entry whose key is id, or the only one whose key begins with it (with or without "sb-").
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
	return nil, fmt.Errorf("%d entries begin with %q: give more of the key", len(found), id)
}

// Approve lets a proposed reply be posted at the bot's next round. by is the operator's name, for the record.
func Approve(ctx context.Context, ledger Ledger, now time.Time, key, by string) (*Entry, error) {
	return change(ctx, ledger, now, key, "approve", []State{Proposed}, func(e *Entry) error {
		if e.Draft == nil {
			return errors.New("it has no draft")
		}
		e.ApprovedBy, e.NotBefore = by, time.Time{}
		return e.move(Approved, "approved by "+by)
	})
}

// Reject makes sure that nothing is posted for an entry. It fails once a save has begun, which cannot be called back.
func Reject(ctx context.Context, ledger Ledger, now time.Time, key, why string) (*Entry, error) {
	return change(ctx, ledger, now, key, "reject", []State{Noticed, Accepted, Proposed, Approved},
		func(e *Entry) error {
			return e.move(Rejected, why)
		})
}

// Retry has an entry judged and solved again: one that was given up, skipped or rejected, or a draft that the operator
// does not like. A skipped entry is then answered although triage said no. It fails for replies that are posted or
// about to be.
func Retry(ctx context.Context, ledger Ledger, now time.Time, key string) (*Entry, error) {
	return change(ctx, ledger, now, key, "retry", []State{GaveUp, Skipped, Rejected, Proposed, Accepted, Noticed},
		func(e *Entry) error {
			e.Starts, e.Failures, e.Saves, e.Edits, e.NotBefore, e.Draft, e.ApprovedBy, e.Lapsed = 0, 0, 0, 0,
				time.Time{},
				nil, "", false
			if e.Save != nil {
				e.Save.Cleared = e.Save.Unclear
			}
			e.Forced = e.Forced || e.State == Skipped || e.State == Rejected || e.State == GaveUp
			return e.move(Noticed, "the operator asked to try again")
		})
}

// orList names states: "a, b or c".
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

// change reads an entry, changes it if it is in one of the states, and writes it, again if someone else was faster.
func change(ctx context.Context, ledger Ledger, now time.Time, key, what string, from []State,
	f func(*Entry) error) (*Entry, error) {
	for {
		e, err := Find(ctx, ledger, key)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(from, e.State) {
			return nil, fmt.Errorf("%s %s: it is %s; this can be done to an entry that is %s", what, e.Key, e.State,
				orList(from))
		}
		if err := f(e); err != nil {
			return nil, fmt.Errorf("%s %s: %w", what, e.Key, err)
		}
		e.Updated = now
		err = ledger.Update(ctx, e)
		if errors.Is(err, ErrChanged) {
			continue
		}
		return e, err
	}
}

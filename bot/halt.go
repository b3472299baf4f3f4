package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Halt is the operator's stop. Like the stop page, it keeps the bot from judging, solving and posting. Unlike the stop
// page, it works without a wiki and also applies while posting is off. It is a note in the store, so it applies to
// every process that uses the store, and it survives restarts.
type Halt struct {
	By  string    `json:"by"`
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"`
}

// String describes who stopped the bot, when and why.
func (h *Halt) String() string {
	s := fmt.Sprintf("stopped by %s at %s", h.By, h.At.UTC().Format("2006-01-02 15:04 UTC"))
	if h.Why != "" {
		s += ": " + h.Why
	}
	return s
}

const haltKey = "bot/halt"

// Stop stops the bot until [Resume]. A save that was already sent cannot be canceled.
func Stop(ctx context.Context, notes Notes, now time.Time, by, why string) error {
	return putNote(ctx, notes, haltKey, &Halt{By: by, Why: why, At: now})
}

// Resume ends a [Stop]. The stop page still applies.
func Resume(ctx context.Context, notes Notes) error { return notes.Put(ctx, haltKey, nil) }

// Halted returns the operator's stop, or nil if there is none.
func Halted(ctx context.Context, notes Notes) (*Halt, error) {
	h := new(Halt)
	ok, err := getNote(ctx, notes, haltKey, h)
	if err != nil || !ok {
		return nil, err
	}
	return h, nil
}

// halted returns a message about the operator's stop, or "" if there is none.
func (b *Bot) halted(ctx context.Context) (string, error) {
	h, err := Halted(ctx, b.store)
	if err != nil || h == nil {
		return "", err
	}
	return h.String(), nil
}

// Pulse is the stored record of a bot's last pass over a page.
type Pulse struct {
	Page    string    `json:"page"`
	At      time.Time `json:"at"`
	Posting Mode      `json:"posting"`
	DryRun  bool      `json:"dry_run,omitempty"`
	Said    string    `json:"said"`              // the counts, as returned by [Summary.String]
	Problem string    `json:"problem,omitempty"` // why the pass was aborted
}

func pulseKey(page string) string { return "bot/pulse/" + page }

// LastPulse returns the record of the last pass over a page, or nil if there was none.
func LastPulse(ctx context.Context, notes Notes, page string) (*Pulse, error) {
	p := new(Pulse)
	ok, err := getNote(ctx, notes, pulseKey(page), p)
	if err != nil || !ok {
		return nil, err
	}
	return p, nil
}

// pulse records a pass, for monitoring. A failure to record it does not stop the bot.
func (b *Bot) pulse(ctx context.Context, problem error) {
	p := Pulse{Page: PageName(b.cfg.Wiki, b.cfg.Page), At: b.now(), Posting: b.cfg.Posting,
		DryRun: b.cfg.DryRun, Said: b.sum.String()}
	if problem != nil {
		p.Problem = short(problem)
	}
	if err := putNote(context.WithoutCancel(ctx), b.store, pulseKey(PageName(b.cfg.Wiki, b.cfg.Page)), &p); err != nil {
		b.lg.Warn("the pass cannot be recorded", "err", err)
	}
}

// getNote reads a note, which is a JSON object. ok is false if the note does not exist or is empty.
func getNote(ctx context.Context, notes Notes, key string, into any) (ok bool, err error) {
	raw, ok, err := notes.Get(ctx, key)
	if err != nil || !ok || len(raw) == 0 {
		return false, err
	}
	return true, decodeNote(key, raw, into)
}

func decodeNote(key string, raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the note %s in the ledger cannot be read: %w", key, err)
	}
	return nil
}

func putNote(ctx context.Context, notes Notes, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return notes.Put(ctx, key, raw)
}

package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Get reads a note. If there is no note with this key, ok is false.
func (s *Store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = s.row(ctx, "SELECT value FROM notes WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, failed(err, "note %s", key)
	}
	return value, true, nil
}

// Put writes a note, replacing any note with the same key.
func (s *Store) Put(ctx context.Context, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	err := s.write(ctx, func(c conn) error {
		_, err := c.exec(ctx, "INSERT INTO notes (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
		return err
	})
	return failed(err, "note %s", key)
}

// Change replaces a note with the result of f. f is passed nil if there is no note, and returns nil to leave the note
// unchanged. The change is atomic. f may be called more than once. If f fails, Change returns its error and changes
// nothing.
func (s *Store) Change(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error {
	var own error
	err := s.inTx(ctx, func(c conn) error {
		var value []byte
		err := c.row(ctx, "SELECT value FROM notes WHERE key = ?", key).Scan(&value)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if value, own = f(value); own != nil || value == nil {
			return own
		}
		_, err = c.exec(ctx, "INSERT INTO notes (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
			key, value)
		return err
	})
	if own != nil {
		return own
	}
	return failed(err, "note %s", key)
}

// Spent returns what was spent on the language model on a UTC day, written as 2026-11-20.
func (s *Store) Spent(ctx context.Context, day string) (llm.Usage, error) {
	var u llm.Usage
	err := s.row(ctx, "SELECT calls, input_tokens, output_tokens, usd FROM spent WHERE day = ?", day).
		Scan(&u.Calls, &u.InputTokens, &u.OutputTokens, &u.USD)
	if errors.Is(err, sql.ErrNoRows) {
		return llm.Usage{}, nil
	}
	return u, failed(err, "sum of %s", day)
}

// AddSpent adds to a day's total.
func (s *Store) AddSpent(ctx context.Context, day string, u llm.Usage) error {
	_, err := s.exec(ctx, `INSERT INTO spent (day, calls, input_tokens, output_tokens, usd) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (day) DO UPDATE SET calls = spent.calls + excluded.calls, input_tokens = spent.input_tokens + excluded.input_tokens,
output_tokens = spent.output_tokens + excluded.output_tokens, usd = spent.usd + excluded.usd`,
		day, u.Calls, u.InputTokens, u.OutputTokens, u.USD)
	return failed(err, "sum of %s", day)
}

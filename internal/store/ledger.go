package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/bot"
)

var _ bot.Store = (*Store)(nil)

// Entry reads one entry. If there is no such entry, it returns bot.ErrNoEntry.
func (s *Store) Entry(ctx context.Context, key string) (*bot.Entry, error) {
	e, err := scan(s.row(ctx, "SELECT version, data FROM entries WHERE key = ?", key))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, failed(bot.ErrNoEntry, "entry %s", key)
	}
	return e, failed(err, "entry %s", key)
}

// scan reads the version and data columns.
func scan(row interface{ Scan(...any) error }) (*bot.Entry, error) {
	var version int64
	var data string
	if err := row.Scan(&version, &data); err != nil {
		return nil, err
	}
	e := new(bot.Entry)
	if err := json.Unmarshal([]byte(data), e); err != nil {
		return nil, err
	}
	e.Version = version
	return e, nil
}

// Entries returns entries in the order in which they were added.
func (s *Store) Entries(ctx context.Context, f bot.Filter) ([]*bot.Entry, error) {
	where, args := []string{"1 = 1"}, []any{}
	add := func(cond string, values ...any) {
		where, args = append(where, cond), append(args, values...)
	}
	if f.Page != "" {
		add("page = ?", f.Page)
	}
	if f.Thread != "" {
		add("thread = ?", f.Thread)
	}
	if f.Text != "" {
		add("text = ?", f.Text)
	}
	if f.Author != "" {
		add("author = ?", f.Author)
	}
	if f.Origin != nil {
		add("author = ?", f.Origin.Author)
		add("minute = ?", micros(f.Origin.Time))
	}
	if !f.SavedSince.IsZero() {
		add("saved >= ?", micros(f.SavedSince))
	}
	if len(f.States) > 0 {
		where = append(where, oneOf("state", f.States, &args))
	}
	if f.Any != nil {
		where = append(where, "("+oneOf("author", f.Any.Authors, &args)+" OR "+oneOf("text", f.Any.Texts, &args)+")")
	}
	order := " ORDER BY seq"
	if f.Newest > 0 {
		order = " ORDER BY seq DESC LIMIT ?"
		args = append(args, f.Newest)
	}
	rows, err := s.rows(ctx, "SELECT version, data FROM entries WHERE "+strings.Join(where, " AND ")+order, args...)
	if err != nil {
		return nil, failed(err, "list entries")
	}
	defer rows.Close()
	var out []*bot.Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, failed(err, "list entries")
		}
		out = append(out, e)
	}
	if f.Newest > 0 {
		slices.Reverse(out)
	}
	return out, failed(rows.Err(), "list entries")
}

// oneOf returns an SQL condition that tests whether the column has one of the given values, and appends the values to
// the arguments.
func oneOf[T ~string](column string, values []T, args *[]any) string {
	for _, v := range values {
		*args = append(*args, string(v))
	}
	return column + " IN (NULL" + strings.Repeat(", ?", len(values)) + ")" // SQL does not allow an empty list
}

// Add writes a new entry unless its key already exists.
func (s *Store) Add(ctx context.Context, e *bot.Entry) (bool, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return false, failed(err, "add entry %s", e.Key)
	}
	added := false
	err = s.write(ctx, func(c conn) error {
		n, err := c.changed(ctx, `INSERT INTO entries (key, page, thread, text, author, minute, state, saved, version, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?) ON CONFLICT (key) DO NOTHING`,
			e.Key, e.Page, e.Thread, e.Text, e.Author, micros(e.Origin().Time), string(e.State), saved(e), string(data))
		if added = err == nil && n > 0; !added {
			return err
		}
		return c.putJob(ctx, e.Job(), false)
	})
	if err != nil || !added {
		return false, failed(err, "add entry %s", e.Key)
	}
	s.rung(ctx, e.Job())
	e.Version = 1
	return true, nil
}

// Update replaces an entry if no one has changed it since it was read.
func (s *Store) Update(ctx context.Context, e *bot.Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return failed(err, "update entry %s", e.Key)
	}
	var n int64
	err = s.write(ctx, func(c conn) error {
		if e.Claim != nil {
			if err := c.held(ctx, e.Claim); err != nil {
				return err
			}
		}
		n, err = c.changed(ctx, `UPDATE entries SET page = ?, thread = ?, text = ?, author = ?, minute = ?, state = ?,
saved = ?, version = version + 1, data = ? WHERE key = ? AND version = ?`,
			e.Page, e.Thread, e.Text, e.Author, micros(e.Origin().Time), string(e.State), saved(e), string(data),
			e.Key, e.Version)
		if err != nil || n == 0 {
			return err
		}
		return c.putJob(ctx, e.Job(), e.Claim != nil)
	})
	if err != nil {
		return failed(err, "update entry %s", e.Key)
	}
	if n == 1 {
		if e.Claim == nil { // otherwise, the worker that holds the claim releases it
			s.rung(ctx, e.Job())
		}
		e.Version++
		return nil
	}
	if _, err := s.Entry(ctx, e.Key); err != nil {
		return err
	}
	return failed(bot.ErrChanged, "update entry %s", e.Key)
}

// changed runs a statement and returns the number of rows it changed.
func (c conn) changed(ctx context.Context, statement string, args ...any) (int64, error) {
	r, err := c.exec(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func saved(e *bot.Entry) int64 {
	if e.Save == nil {
		return 0
	}
	return micros(e.Save.At)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// movedNote is in a file whose content was moved to a database.
const movedNote = "store:moved"

// ErrMoved: the file's content was moved to a shared database, and the file is no longer written.
var ErrMoved = errors.New("this ledger was moved to a PostgreSQL database: set DATABASE_URL")

// ledgerTables are what [Move] moves, with the columns in which rows are the same in both databases, the order first.
var ledgerTables = []struct{ name, columns, order string }{
	{"entries", "key, page, thread, text, author, minute, state, saved, version, data", "seq"},
	{"notes", "key, value", "key"},
	{"spent", "day, calls, input_tokens, output_tokens, usd", "day"},
}

// Moved is what [Move] moved.
type Moved struct{ Entries, Notes, Days int }

// Move copies the ledger of a file to an empty shared database, compares both row by row, and marks the file, so that
// [Open] refuses it from then on: two bots with a ledger each would answer twice. The caller holds the file's [Lock].
// Without an error the database holds all of it; with one, nothing, and the file is as it was.
func Move(ctx context.Context, from, to *Store) (Moved, error) {
	var m Moved
	err := to.inTx(ctx, func(tx conn) error {
		for i, n := range []*int{&m.Entries, &m.Notes, &m.Days} {
			t := ledgerTables[i]
			there, err := tx.all(ctx, t.name, t.columns, t.order)
			if err != nil {
				return err
			}
			all, err := from.all(ctx, t.name, t.columns, t.order)
			if err != nil {
				return err
			}
			*n = len(all)
			if len(there) > 0 {
				if same(t.name, all, there) != nil {
					return fmt.Errorf("the database is not empty (table %s): name another one", t.name)
				}
				continue // it was moved before, and the file could not be marked
			}
			insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", t.name, t.columns,
				strings.Repeat(", ?", strings.Count(t.columns, ",")))
			for _, row := range all {
				if _, err := tx.exec(ctx, insert, row...); err != nil {
					return err
				}
			}
			if there, err = tx.all(ctx, t.name, t.columns, t.order); err != nil {
				return err
			}
			if err := same(t.name, all, there); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Moved{}, failed(err, "move the ledger")
	}
	return m, from.Put(ctx, movedNote, []byte{})
}

// all reads the rows of a table.
func (c conn) all(ctx context.Context, table, columns, order string) ([][]any, error) {
	rows, err := c.rows(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", columns, table, order))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]any
	for rows.Next() {
		row := make([]any, strings.Count(columns, ",")+1)
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i, v := range row {
			if b, is := v.([]byte); is && b == nil { // so SQLite's driver has empty bytes; no column may be null
				row[i] = []byte{}
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// same returns an error that names the first row that differs.
func same(table string, a, b [][]any) error {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || fmt.Sprint(a[i]...) != fmt.Sprint(b[i]...) {
			return fmt.Errorf("row %d of %s is not what was written; nothing was moved", i+1, table)
		}
	}
	return nil
}

// notMoved returns ErrMoved for a file whose content was moved.
func (s *Store) notMoved(ctx context.Context) error {
	var one int
	err := s.row(ctx, "SELECT 1 FROM notes WHERE key = ?", movedNote).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		return ErrMoved
	}
	return err
}

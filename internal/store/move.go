package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// movedNote is the key of a note in a file whose contents were moved to a database.
const movedNote = "store:moved"

// ErrMoved means that the file's contents were moved to a shared database and the file is no longer used.
var ErrMoved = errors.New("this ledger was moved to a PostgreSQL database: set DATABASE_URL")

// ledgerTables lists the tables that [Move] moves, the columns that the file and the database share, and the row order.
var ledgerTables = []struct{ name, columns, order string }{
	{"entries", "key, page, thread, text, author, minute, state, saved, version, data", "seq"},
	{"notes", "key, value", "key"},
	{"spent", "day, calls, input_tokens, output_tokens, usd", "day"},
	{"jobs", jobColumns, "key"},
	{"results", "key, name, data", "key, name"},
}

// Moved contains the number of rows that [Move] moved from each table.
type Moved struct{ Entries, Notes, Days, Jobs, Results int }

// Move copies the ledger in a file to an empty shared database, compares the two row by row, and marks the file so that
// [Open] rejects it from then on: two bots with separate ledgers would answer requests twice. The caller must hold the
// file's [Lock]. If Move succeeds, the database contains the whole ledger; if copying fails, the database is left as it
// was, and the only change to the file is that the claims on running jobs have been released. If only the file could
// not be marked, another call finishes the work.
func Move(ctx context.Context, from, to *Store) (Moved, error) {
	var m Moved
	// No process is using the file, but it may contain claims that never expire.
	_, err := from.exec(ctx, "UPDATE jobs SET state = 'waiting', ends = 0 WHERE state = 'running'")
	if err != nil {
		return m, failed(err, "move the ledger")
	}
	err = to.inTx(ctx, func(tx conn) error {
		for i, n := range []*int{&m.Entries, &m.Notes, &m.Days, &m.Jobs, &m.Results} {
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
					return fmt.Errorf("the database is not empty (table %s): specify a different one", t.name)
				}
				continue // an earlier Move copied the table but could not mark the file
			}
			if err := tx.insert(ctx, t.name, t.columns, all); err != nil {
				return err
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

func (c conn) insert(ctx context.Context, table, columns string, rows [][]any) error {
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, columns,
		strings.Repeat(", ?", strings.Count(columns, ",")))
	for _, row := range rows {
		if _, err := c.exec(ctx, statement, row...); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot writes a consistent copy of the ledger to a new SQLite file, even while other processes are writing.
func (s *Store) Snapshot(ctx context.Context, to string) error {
	if !s.shared {
		return failed(s.vacuumInto(ctx, to), "snapshot")
	}
	file, err := Open(ctx, to)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(tx conn) error {
		return file.inTx(ctx, func(out conn) error {
			for _, t := range ledgerTables {
				if _, err := out.exec(ctx, "DELETE FROM "+t.name); err != nil { // rows from an attempt that ended in a conflict
					return err
				}
				rows, err := tx.all(ctx, t.name, t.columns, t.order)
				if err == nil {
					err = out.insert(ctx, t.name, t.columns, rows)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err == nil { // leave everything in a single file
		_, err = file.exec(ctx, "PRAGMA journal_mode = DELETE")
	}
	return failed(errors.Join(err, file.Close()), "snapshot")
}

// vacuumInto writes the database to a new file (https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause).
func (c conn) vacuumInto(ctx context.Context, to string) error {
	_, err := c.exec(ctx, "VACUUM INTO ?", to)
	return err
}

// CopyFile writes a consistent copy of an SQLite file to a new file, even while other processes are writing. The file
// need not belong to this program.
func CopyFile(ctx context.Context, from, to string) error {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(from), RawQuery: url.Values{"mode": {"ro"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return failed(err, "copy of %s", from)
	}
	defer db.Close()
	return failed(conn{db: db}.vacuumInto(ctx, to), "copy of %s", from)
}

// all returns the rows of a table.
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
			if b, is := v.([]byte); is && b == nil { // the driver returns nil for empty blobs; no column may be null
				row[i] = []byte{}
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// same returns an error that identifies the first row that differs, if any.
func same(table string, a, b [][]any) error {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || fmt.Sprint(a[i]...) != fmt.Sprint(b[i]...) {
			return fmt.Errorf("row %d of %s differs from what was written; nothing was moved", i+1, table)
		}
	}
	return nil
}

// notMoved returns ErrMoved for a file whose contents were moved.
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

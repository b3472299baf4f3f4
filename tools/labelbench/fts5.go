package main

import (
	"context"
	"database/sql"
	"os"
	"strings"

	_ "modernc.org/sqlite" // the database engine

	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/tools/labelbench/bench"
)

// fts5 is SQLite's full-text search: rows are sorted by descending score, every word in a query matches as a prefix,
// and hits are returned in row order.
type fts5 struct {
	file string
	db   *sql.DB
}

func (f *fts5) Build(labels string) error {
	_, have := os.Stat(f.file)
	db, err := sql.Open("sqlite", f.file)
	if err != nil {
		return err
	}
	f.db = db
	if have == nil {
		return nil
	}
	for _, q := range []string{"PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF",
		"CREATE TABLE e(n INTEGER PRIMARY KEY, iri TEXT, names TEXT, infos TEXT)",
		"CREATE VIRTUAL TABLE t USING fts5(names, content='', tokenize='unicode61 remove_diacritics 2', prefix='2 3 4')"} {
		if _, err := db.ExecContext(context.Background(), q); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	names, err := tx.PrepareContext(context.Background(), "INSERT INTO t(rowid, names) VALUES(?, ?)")
	if err != nil {
		return err
	}
	entries, err := tx.PrepareContext(context.Background(), "INSERT INTO e(n, iri, names, infos) VALUES(?, ?, ?, ?)")
	if err != nil {
		return err
	}
	n := 0
	err = build.TableFile(context.Background(), labels, lookup.Entity, func(e lookup.Entry) error {
		n++
		all := strings.Join(append([]string{e.Label}, e.Aliases...), " ; ")
		if _, err := names.ExecContext(context.Background(), n, all); err != nil {
			return err
		}
		_, err := entries.ExecContext(context.Background(), n, e.IRI, all, strings.Join(e.Infos, ";;;"))
		return err
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

func (f *fts5) Find(text string) (out []string, err error) {
	var words []string
	for _, w := range lookup.Words(text) {
		words = append(words, `"`+strings.ReplaceAll(w, `"`, "")+`"*`)
	}
	rows, err := f.db.QueryContext(context.Background(),
		"SELECT e.iri FROM t JOIN e ON e.n = t.rowid WHERE t MATCH ? ORDER BY t.rowid LIMIT 10",
		strings.Join(words, " "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var iri string
		if err := rows.Scan(&iri); err != nil {
			return nil, err
		}
		out = append(out, iri)
	}
	return out, rows.Err()
}

func (f *fts5) Size() int64 { return bench.SizeOf(f.file) }

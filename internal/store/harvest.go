package store

import (
	"context"
	"encoding/json"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
)

var _ harvest.Store = (*Store)(nil)

// harvestTables store what a harvest has read. The queries that the harvest has run, the names it has resolved and its
// settings are stored as notes.
const harvestTables = `CREATE TABLE harvest_pages (
	title TEXT PRIMARY KEY,
	data TEXT NOT NULL -- harvest.Page as JSON
);
CREATE TABLE discussions (
	id TEXT PRIMARY KEY,
	page TEXT NOT NULL,
	place BIGINT NOT NULL, -- order on the page
	data TEXT NOT NULL -- dataset.Candidate as JSON
);
CREATE INDEX discussions_page ON discussions (page, place);`

// Pages returns the archive pages that have been read.
func (s *Store) Pages(ctx context.Context) ([]harvest.Page, error) {
	out, err := list[harvest.Page](ctx, s.conn, "SELECT data FROM harvest_pages ORDER BY title")
	return out, failed(err, "list archive pages")
}

// SavePage replaces a page and all of its discussions.
func (s *Store) SavePage(ctx context.Context, p harvest.Page, discussions []dataset.Candidate) error {
	return failed(s.inTx(ctx, func(tx conn) error {
		data, err := json.Marshal(p)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "INSERT INTO harvest_pages (title, data) VALUES (?, ?) ON CONFLICT (title) DO UPDATE SET data = excluded.data", p.Title, string(data)); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM discussions WHERE page = ?", p.Title); err != nil {
			return err
		}
		for i := range discussions {
			if data, err = json.Marshal(&discussions[i]); err != nil {
				return err
			}
			if _, err := tx.exec(ctx, "INSERT INTO discussions (id, page, place, data) VALUES (?, ?, ?, ?)",
				discussions[i].ID, p.Title, i, string(data)); err != nil {
				return err
			}
		}
		return nil
	}), "archive page %s", p.Title)
}

// Discussions returns the discussions on a page, in order.
func (s *Store) Discussions(ctx context.Context, page string) ([]dataset.Candidate, error) {
	out, err := list[dataset.Candidate](ctx, s.conn, "SELECT data FROM discussions WHERE page = ? ORDER BY place", page)
	return out, failed(err, "discussions of %s", page)
}

// Forget removes a note.
func (s *Store) Forget(ctx context.Context, key string) error {
	_, err := s.exec(ctx, "DELETE FROM notes WHERE key = ?", key)
	return failed(err, "note %s", key)
}

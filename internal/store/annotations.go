package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spinachbot/spinachbot/dataset/annotate"
)

var _ annotate.Store = (*Store)(nil)

// annotationTables store the work of annotators. work_events is append-only.
const annotationTables = `CREATE TABLE works (
	candidate TEXT NOT NULL,
	annotator TEXT NOT NULL, -- '' is the resolution
	version BIGINT NOT NULL,
	data TEXT NOT NULL, -- annotate.Work as JSON
	PRIMARY KEY (candidate, annotator)
);
CREATE TABLE work_events (
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	candidate TEXT NOT NULL,
	who TEXT NOT NULL,
	at BIGINT NOT NULL, -- microseconds since 1970
	data TEXT NOT NULL -- annotate.Event as JSON
);
CREATE INDEX work_events_candidate ON work_events (candidate);
CREATE INDEX work_events_who ON work_events (who);`

// Works returns the annotators' work on a candidate, or on all candidates if candidate is "".
func (s *Store) Works(ctx context.Context, candidate string) ([]annotate.Work, error) {
	where, args := "", []any{}
	if candidate != "" {
		where, args = " WHERE candidate = ?", []any{candidate}
	}
	out, err := list[annotate.Work](ctx, s.conn, "SELECT data FROM works"+where+" ORDER BY candidate, annotator", args...)
	return out, failed(err, "list works on %s", candidate)
}

// SaveWork stores w and the event that describes the change, unless the work has been changed since it was read.
func (s *Store) SaveWork(ctx context.Context, w *annotate.Work, e *annotate.Event) error {
	next := *w
	next.Version++
	event := *e
	event.Work = next
	err := s.inTx(ctx, func(tx conn) error {
		var version int64
		err := tx.row(ctx, "SELECT version FROM works WHERE candidate = ? AND annotator = ?", w.Candidate,
			w.Annotator).Scan(&version)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if version != w.Version {
			return annotate.ErrConflict
		}
		data, err := json.Marshal(next)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `INSERT INTO works (candidate, annotator, version, data) VALUES (?, ?, ?, ?)
ON CONFLICT (candidate, annotator) DO UPDATE SET version = excluded.version, data = excluded.data`, w.Candidate,
			w.Annotator, next.Version, string(data)); err != nil {
			return err
		}
		if data, err = json.Marshal(event); err != nil {
			return err
		}
		return tx.row(ctx, "INSERT INTO work_events (candidate, who, at, data) VALUES (?, ?, ?, ?) RETURNING seq",
			w.Candidate, e.Who, micros(e.At), string(data)).Scan(&event.Seq)
	})
	if err != nil {
		return failed(err, "save the work of %q on %s", w.Annotator, w.Candidate)
	}
	*w, *e = next, event
	return nil
}

// WorkEvents returns the events for a candidate or a user, or all events, oldest first.
func (s *Store) WorkEvents(ctx context.Context, candidate, who string) ([]annotate.Event, error) {
	where, args := []string{"1 = 1"}, []any{}
	if candidate != "" {
		where, args = append(where, "candidate = ?"), append(args, candidate)
	}
	if who != "" {
		where, args = append(where, "who = ?"), append(args, who)
	}
	rows, err := s.rows(ctx, "SELECT seq, data FROM work_events WHERE "+strings.Join(where, " AND ")+
		" ORDER BY seq", args...)
	if err != nil {
		return nil, failed(err, "list events")
	}
	defer rows.Close()
	var out []annotate.Event
	for rows.Next() {
		var seq int64
		var data string
		if err := rows.Scan(&seq, &data); err != nil {
			return nil, failed(err, "list events")
		}
		var e annotate.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return nil, failed(err, "event %d", seq)
		}
		e.Seq = seq
		out = append(out, e)
	}
	return out, failed(rows.Err(), "list events")
}

// list reads rows with a single JSON column.
func list[T any](ctx context.Context, c conn, query string, args ...any) ([]T, error) {
	rows, err := c.rows(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var data string
		var v T
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

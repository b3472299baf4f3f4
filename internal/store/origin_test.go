package store

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spinachbot/spinachbot/bot"
)

// A file written before origins were stored keeps its entries, and they can be found by origin.
func TestOriginIsAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	run := func(q string, args ...any) {
		t.Helper()
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range migrations[:3] {
		run(m)
	}
	run("PRAGMA user_version = 3")
	insert := "INSERT INTO entries (key, page, thread, text, state, saved, version, data) VALUES (?, 'P', 'th', 'tx', 'posted', 0, 7, ?)"
	run(insert, "sb-1", `{"key":"sb-1","page":"P","comment":"c-Zoë_O'Neil-20261120120500","author":"Zoë O'Neil","time":"2026-11-20T12:05:00Z","state":"posted","rev":12}`)
	run(insert, "sb-2", `{"key":"sb-2","page":"P","comment":"u-123","author":"","time":null,"state":"posted"}`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s := open(t, path)
	at := time.Date(2026, 11, 20, 12, 5, 0, 0, time.UTC)
	for key, o := range map[string]bot.Origin{"sb-1": {Author: "Zoë O'Neil", Time: at}, "sb-2": {}} {
		found, err := s.Entries(t.Context(), bot.Filter{Page: "P", Origin: &o})
		if err != nil || len(found) != 1 || found[0].Key != key || found[0].State != bot.Posted ||
			found[0].Version != 7 || found[0].Origin() != o {
			t.Errorf("%s: %v %+v", key, err, found)
			continue
		}
		before := *found[0]
		found[0].Author = "Bob"
		if err := s.Update(t.Context(), found[0]); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Entries(t.Context(), bot.Filter{Origin: &o}); err != nil || len(again) != 0 {
			t.Errorf("%s is still found by its old origin: %v %v", key, err, again)
		}
		before.Author, before.Version = "Bob", 8
		if e, err := s.Entry(t.Context(), key); err != nil || cmp.Diff(&before, e) != "" {
			t.Error(err, cmp.Diff(&before, e))
		}
	}
}

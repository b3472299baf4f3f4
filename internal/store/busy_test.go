package store

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

// A save waits for another program that is writing to the file. If that program does not finish, the error reports that
// the database is busy.
func TestBusyDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	s, other := open(t, path), open(t, path)
	hold := func() (letGo func()) {
		t.Helper()
		c, err := other.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		return func() {
			_, err := c.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK")
			if err != nil {
				t.Error(err)
			}
			_ = c.Close()
		}
	}
	letGo := hold()
	time.AfterFunc(100*time.Millisecond, letGo)
	if added, err := s.Add(t.Context(), entry("sb-1", bot.Noticed, day)); err != nil || !added {
		t.Errorf("while another program writes: %v, %v", added, err)
	}
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA busy_timeout = 20"); err != nil {
		t.Fatal(err)
	}
	s.db.SetMaxOpenConns(1)
	defer hold()()
	if _, err := s.Add(t.Context(), entry("sb-2", bot.Noticed, day)); err == nil || !strings.Contains(err.Error(), "kept the database busy") {
		t.Errorf("while another program keeps it busy: %v", err)
	}
}

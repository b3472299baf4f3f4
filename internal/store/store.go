// Package store persists what must survive a crash: the bot's ledger and notes, the daily amounts spent on the language
// model, and vectors that were paid for. It implements interfaces that are defined by bot ([Store.Entry] and related
// methods), llm ([Store.Spent], [Store.AddSpent]), the annotation page ([Store.SaveWork]) and others, and does not
// depend on their rules.
//
// A store is one SQLite file ([Open]) or, for bots on several machines, a PostgreSQL database ([OpenShared]). Both use
// the same statements; sql.go contains the few differences, and one test suite runs against both.
//
// Every write is durable once the method has returned. The file is in WAL mode with synchronous=FULL
// (https://www.sqlite.org/pragma.html#pragma_synchronous), with one connection, and its transactions take the write
// lock immediately, so that a writer waits for a busy database instead of failing halfway. Several processes may have
// the file open, for example, the running bot and the ledger command. [Lock] prevents a second bot from using the same
// file, and [Store.Acquire] does this for a database.
//
// The schema has a version. Opening a store updates an older schema, each step in its own transaction, and fails if the
// schema is from a newer program. Times are stored as microseconds since 1970 in UTC, and structures as JSON text.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/leader"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	conn
	lease *leader.Lease // required for writing the ledger; nil if no lease is required
	ring  func(context.Context, job.Job)
}

// OnWork registers f, which the store calls with the job's key, kind and due time after each write that leaves a job to
// do. It must be called before the store is used.
func (s *Store) OnWork(f func(context.Context, job.Job)) { s.ring = f }

// rung calls the function set by [Store.OnWork] for a job that must be done.
func (s *Store) rung(ctx context.Context, j job.Job) {
	if s.ring != nil && j.State == job.Waiting {
		s.ring(ctx, j)
	}
}

// migrations are the steps from an empty file to the current schema; step i updates version i to i+1. Steps are
// never changed, only added.
var migrations = []string{
	`CREATE TABLE entries (
	seq INTEGER PRIMARY KEY, -- in the order of writing
	key TEXT NOT NULL UNIQUE,
	page TEXT NOT NULL,
	thread TEXT NOT NULL,
	text TEXT NOT NULL,
	state TEXT NOT NULL,
	saved BIGINT NOT NULL, -- last attempt to save, microseconds since 1970; 0: none
	version BIGINT NOT NULL,
	data TEXT NOT NULL -- bot.Entry as JSON
);
CREATE INDEX entries_state ON entries (page, state);
CREATE INDEX entries_thread ON entries (page, thread);
CREATE INDEX entries_text ON entries (page, text);
CREATE INDEX entries_saved ON entries (saved);
CREATE TABLE notes (
	key TEXT PRIMARY KEY,
	value BLOB NOT NULL
);
CREATE TABLE spent (
	day TEXT PRIMARY KEY, -- 2026-11-20, UTC
	calls BIGINT NOT NULL,
	input_tokens BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	usd DOUBLE PRECISION NOT NULL
);`,
	annotationTables,
	harvestTables,
	// The author and timestamp of an entry's comment (in microseconds since 1970, or 0 if there is none): see
	// bot.Origin.
	`ALTER TABLE entries ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN minute BIGINT NOT NULL DEFAULT 0;
UPDATE entries SET author = coalesce(json_extract(data, '$.author'), ''),
	minute = 1000000 * coalesce(CAST(strftime('%s', json_extract(data, '$.time')) AS BIGINT), 0);
CREATE INDEX entries_origin ON entries (page, author, minute);`,
	vectorTables,
	leaseTable,
	jobTable + entryJobs,
	// An endpoint's budgets were once stored under its complete URL, whose parameters may contain a key.
	`DELETE FROM notes WHERE substr(key, 1, 9) = 'endpoint ' AND instr(key, char(63)) > 0;`, // a question mark
	fmt.Sprintf(resultTables, "BLOB"),
}

// busyTimeout is how long a writer waits for another process. The ledger command's writes take milliseconds.
const busyTimeout = 10 * time.Second

// Open opens the database file, creating it and its folder if they do not exist. It checks the file's integrity and
// updates its schema.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", describe(err))
	}
	if err := closeToOthers(path); err != nil {
		return nil, fmt.Errorf("store: %w", describe(err))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
		"foreign_keys(ON)",
		"secure_delete(ON)"}} // overwrites text that was deleted on the wiki
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{conn: conn{db: db}}
	err = s.prepare(ctx)
	if err == nil {
		err = s.notMoved(ctx)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("store %s: %w", path, describe(err))
	}
	return s, nil
}

// closeToOthers creates a file that only its owner can read, or removes other users' permissions from an existing one.
// SQLite would make it readable by everyone; its -wal and -shm files get the same permissions.
func closeToOthers(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o007 == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&^0o007)
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// prepare checks the file and runs the missing migrations.
func (s *Store) prepare(ctx context.Context) error {
	var check string
	if err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&check); err != nil {
		return err
	}
	if check != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, check)
	}
	return s.inTx(ctx, func(tx conn) error {
		var version int
		if err := tx.row(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if err := tx.migrate(ctx, version, migrations); err != nil {
			return err
		}
		if version == len(migrations) {
			// This statement changes nothing, but fails if SQLite has opened the file read-only because it is write-protected.
			_, err := tx.exec(ctx, "DELETE FROM notes WHERE 0")
			return err
		}
		_, err := tx.exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
		return err
	})
}

// migrate runs the steps that update a schema of the given version.
func (c conn) migrate(ctx context.Context, version int, steps []string) error {
	if version > len(steps) {
		return fmt.Errorf("the database has schema %d, but this program supports only %d: use the newer program that "+
			"wrote it", version, len(steps))
	}
	for i := version; i < len(steps); i++ {
		if _, err := c.exec(ctx, steps[i]); err != nil {
			return fmt.Errorf("schema step %d: %w", i+1, err)
		}
	}
	return nil
}

var errDamaged = errors.New("the database file is damaged: restore a backup, or move it (and its -wal and -shm files) away to start over")

// describe adds advice to the errors that users may see: full disk, damaged file, missing permission,
// busy database.
func describe(err error) error {
	var se *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full: make room and start again; nothing that was recorded is lost (%w)", err)
	case !errors.As(err, &se):
		return describeShared(err)
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full: make room and start again; nothing that was recorded is lost (%w)", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", errDamaged, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("the database file cannot be written: check that it is a file, and the owner and permissions "+
			"of it, its -wal and -shm files, and its folder (%w)", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program has kept the database busy for %v: find and stop it (%w)", busyTimeout, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%s (%w)", ioError(se.Code()), err)
	}
	return err
}

// ioError describes an extended I/O error code. SQLite reports a full disk with an I/O error code when it extends a
// file other than the database.
func ioError(code int) string {
	switch code {
	case sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_WRITE,
		sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE:
		return "the disk is full or reports an error: make room, or check the system's log"
	}
	return "the disk reports an error: check the system's log"
}

// failed wraps a method's error with a description of what the method was doing.
func failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %w", strings.TrimSpace(fmt.Sprintf(format, args...)), describe(err))
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// sharedMigrations are the steps from an empty PostgreSQL database to the current schema. Steps are never changed, only
// added.
var sharedMigrations = []string{
	`CREATE TABLE entries (
	seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of writing
	key TEXT NOT NULL UNIQUE,
	page TEXT NOT NULL,
	thread TEXT NOT NULL,
	text TEXT NOT NULL,
	author TEXT NOT NULL,
	minute BIGINT NOT NULL, -- microseconds since 1970; 0: none
	state TEXT NOT NULL,
	saved BIGINT NOT NULL, -- last attempt to save, microseconds since 1970; 0: none
	version BIGINT NOT NULL,
	data TEXT NOT NULL -- bot.Entry as JSON
);
CREATE INDEX entries_state ON entries (page, state);
CREATE INDEX entries_thread ON entries (page, thread);
CREATE INDEX entries_text ON entries (page, text);
CREATE INDEX entries_saved ON entries (saved);
CREATE INDEX entries_origin ON entries (page, author, minute);
CREATE TABLE notes (
	key TEXT PRIMARY KEY,
	value BYTEA NOT NULL
);
CREATE TABLE spent (
	day TEXT PRIMARY KEY, -- 2026-11-20, UTC
	calls BIGINT NOT NULL,
	input_tokens BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	usd DOUBLE PRECISION NOT NULL
);
CREATE TABLE vectors (
	model TEXT NOT NULL,
	text BYTEA NOT NULL, -- SHA-256
	vector BYTEA NOT NULL, -- 32-bit floats, little-endian
	PRIMARY KEY (model, text)
);` + leaseTable,
	jobTable + sharedEntryJobs,
	`DELETE FROM notes WHERE substr(key, 1, 9) = 'endpoint ' AND strpos(key, chr(63)) > 0;`, // as in migrations
	fmt.Sprintf(resultTables, "BYTEA"),
}

// maxConns is the maximum number of connections per process. By default, PostgreSQL allows 100 in total.
const maxConns = 6

// ErrAddress means that a setting is not the URL of a PostgreSQL database. It does not include the setting, which may
// contain a password.
var ErrAddress = errors.New("DATABASE_URL is not the address of a PostgreSQL database, " +
	"such as postgres://user:password@host:5432/name")

// CheckAddress returns [ErrAddress] if url is not a valid database URL. It does not connect to the database.
func CheckAddress(url string) error {
	if _, err := pgx.ParseConfig(url); err != nil {
		return ErrAddress
	}
	return nil
}

// OpenShared opens a PostgreSQL database that several processes share, and updates its schema. url has the
// format described at https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING; no error includes
// its password.
func OpenShared(ctx context.Context, url string) (*Store, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("store: %w", ErrAddress)
	}
	cfg.RuntimeParams["application_name"] = "spinachbot"
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(maxConns)
	s := &Store{conn: conn{db: db, shared: true}}
	if err := s.prepareShared(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("store: %w", describe(err))
	}
	return s, nil
}

// prepareShared runs the missing migrations. If several programs start at once, only one of them runs the migrations.
func (s *Store) prepareShared(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil) // each statement sees earlier writes, including those made while it was waiting
	if err != nil {
		return err
	}
	defer tx.Rollback()
	c := conn{db: s.db, tx: tx, shared: true}
	if _, err := c.exec(ctx, "SELECT pg_advisory_xact_lock(4838174921)"); err != nil { // an arbitrary number
		return err
	}
	if _, err := c.exec(ctx, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"); err != nil {
		return err
	}
	var version int
	if err := c.row(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version); err != nil {
		return err
	}
	if err := c.migrate(ctx, version, sharedMigrations); err != nil || version == len(sharedMigrations) {
		return err
	}
	if _, err := c.exec(ctx, "INSERT INTO schema_version (version) VALUES (?)", len(sharedMigrations)); err != nil {
		return err
	}
	return tx.Commit()
}

// describeShared adds advice to errors from PostgreSQL.
func describeShared(err error) error {
	var unreachable *pgconn.ConnectError
	var pg *pgconn.PgError
	isPg := errors.As(err, &pg)
	switch {
	case isPg && pg.Code == "53100":
		return fmt.Errorf("the database's disk is full: make room; nothing that was recorded is lost (%w)", err)
	case isPg && pg.Code == "53300":
		return fmt.Errorf("the database accepts no more connections: increase its max_connections (%w)", err)
	case isPg && pg.Code == "25006":
		return fmt.Errorf("the database cannot be written: DATABASE_URL must name the primary server (%w)", err)
	case isPg && (pg.Code == "28P01" || pg.Code == "28000" || pg.Code == "3D000" || pg.Code == "42501"):
		return fmt.Errorf("the database rejected the connection: check the user, password and name in DATABASE_URL, "+
			"and that the user may create tables (%w)", err)
	case errors.As(err, &unreachable):
		return fmt.Errorf("the database cannot be reached: check DATABASE_URL and that the server is running (%w)", err)
	}
	return err
}

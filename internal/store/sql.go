package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// conn runs statements, with ? as the placeholder for arguments, on a database or within a transaction.
type conn struct {
	db     *sql.DB
	tx     *sql.Tx // nil outside transactions
	shared bool    // the database is PostgreSQL
}

type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (c conn) runner() runner {
	if c.tx != nil {
		return c.tx
	}
	return c.db
}

func (c conn) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return c.runner().ExecContext(ctx, c.statement(query), args...)
}

func (c conn) rows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return c.runner().QueryContext(ctx, c.statement(query), args...)
}

func (c conn) row(ctx context.Context, query string, args ...any) *sql.Row {
	return c.runner().QueryRowContext(ctx, c.statement(query), args...)
}

// statement returns a statement in the form that the database requires. A question mark is always a placeholder.
func (c conn) statement(query string) string {
	if !c.shared || !strings.Contains(query, "?") {
		return query
	}
	var b strings.Builder
	for i, part := range strings.Split(query, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// now returns SQL for the time on the database's clock in microseconds since 1970, which is the same for all processes
// that share the database.
func (c conn) now() string {
	if c.shared {
		return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
	}
	return "CAST(unixepoch('subsec') * 1000000 AS BIGINT)"
}

// inTx runs f in a transaction that is committed if f returns nil. Transactions are serializable; f may run again after
// a conflict with another transaction.
func (c conn) inTx(ctx context.Context, f func(conn) error) error {
	return c.retried(ctx, sql.LevelSerializable, f)
}

// locked is like inTx, but does not conflict with transactions on other rows. Therefore, f must lock the rows it relies
// on.
func (c conn) locked(ctx context.Context, f func(conn) error) error {
	return c.retried(ctx, sql.LevelReadCommitted, f)
}

func (c conn) retried(ctx context.Context, level sql.IsolationLevel, f func(conn) error) error {
	for {
		err := c.once(ctx, level, f)
		var conflict *pgconn.PgError
		if errors.As(err, &conflict) && (conflict.Code == serializationFailure || conflict.Code == deadlockDetected) &&
			ctx.Err() == nil {
			continue
		}
		return err
	}
}

// PostgreSQL error codes (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

func (c conn) once(ctx context.Context, level sql.IsolationLevel, f func(conn) error) error {
	var opts *sql.TxOptions
	if c.shared {
		opts = &sql.TxOptions{Isolation: level}
	}
	tx, err := c.db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(conn{db: c.db, tx: tx, shared: c.shared}); err != nil {
		return err
	}
	return tx.Commit()
}

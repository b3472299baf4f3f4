// Package logid adds an ID to all log lines for a request, from the HTTP request or the forum comment down to the calls
// to models and graphs. The handler adds a "request" attribute to each line that is logged with the request's context
// ([slog.Logger.InfoContext] and similar methods).
package logid

import (
	"context"
	"log/slog"
)

// Key is the attribute's name.
const Key = "request"

type key struct{}

// With returns a context that adds the ID to its log lines.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// Of returns the context's ID, or "" if it has none.
func Of(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Handler returns a handler that adds the context's ID to each record and passes the record to h.
func Handler(h slog.Handler) slog.Handler { return handler{h} }

type handler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := Of(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String(Key, id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }

package logid

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
)

func TestHandler(t *testing.T) {
	var b bytes.Buffer
	text := slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	lg := slog.New(Handler(text)).With("part", "x")
	ctx := With(context.Background(), "r1")
	lg.InfoContext(ctx, "one", "n", 1)
	lg.InfoContext(With(ctx, "r2"), "two")
	lg.InfoContext(context.Background(), "none")
	want := "level=INFO msg=one part=x n=1 request=r1\nlevel=INFO msg=two part=x request=r2\nlevel=INFO msg=none part=x\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A model service that is not running is reported immediately, with a special exit status and advice.
func TestAskModelUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	began := time.Now()
	out, errs, code := invoke(t, []string{"DATA_DIR=" + t.TempDir(), "OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_MODEL=m"},
		"ask", "--kg", "embedded", "Anything?")
	if code != exitService || !strings.Contains(errs, "OPENAI_BASE_URL") || strings.Count(errs, "model call failed") > 1 {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Ctrl-C ends a question with status 130, as shells expect, and prints no advice about failures.
func TestAskInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	var out, errs strings.Builder
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, now: time.Now,
		environ: []string{"DATA_DIR=" + t.TempDir(), "OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_MODEL=m"}}
	code := run(ctx, e, []string{"ask", "--kg", "embedded", "Anything?"})
	if code != exitInterrupted || !strings.Contains(errs.String(), "interrupted") || strings.Contains(errs.String(),
		"again") {
		t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
	}
}

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSandboxPrivateData checks that pages of other websites can read the built-in data, but not the user's data.
func TestSandboxPrivateData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "private.nt")
	if err := os.WriteFile(file, []byte("<http://example.org/s> <http://example.org/p> \"secret\" .\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data  []string
		want  int
		allow string
	}{{nil, http.StatusOK, "*"}, {[]string{file}, http.StatusForbidden, ""}} {
		e := &env{stderr: os.Stderr, now: time.Now}
		sb, err := openSandbox(context.Background(), quietLogger(), e, sandboxOptions{addr: "127.0.0.1:0", title: "Forum",
			data: c.data, timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- sb.serve(ctx) }()
		t.Cleanup(func() { cancel(); <-done; sb.close() })
		req, err := http.NewRequest("POST", sb.url+"/sparql", strings.NewReader("query=ASK%7B%7D"))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded",
			"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Access-Control-Allow-Origin"); resp.StatusCode != c.want || got != c.allow {
			t.Errorf("data %v: %d, Access-Control-Allow-Origin %q, want %d and %q", c.data, resp.StatusCode, got, c.want,
				c.allow)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// dearModel serves the scripted model but bills two million input tokens per action.
func dearModel(t *testing.T) string {
	t.Helper()
	script, err := sandbox.Script()
	if err != nil {
		t.Fatal(err)
	}
	next := script.Handler()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		var answer map[string]any
		if json.Unmarshal(rec.Body.Bytes(), &answer) == nil && bytes.Contains(rec.Body.Bytes(), []byte("tool_calls")) {
			answer["usage"] = map[string]int{"prompt_tokens": 2_000_000, "completion_tokens": 1}
			b, err := json.Marshal(answer)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			rec.Body = bytes.NewBuffer(b)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		_, _ = io.Copy(w, rec.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// If the daily budget is used up in the middle of a request, the request waits for the next day, even if there is also
// a limit per request.
func TestDayMoneyUsedUpInTheMiddleOfARequest(t *testing.T) {
	data := filepath.Join(testutil.Folder(t), "data")
	environ := []string{"DATA_DIR=" + data, "OPENAI_BASE_URL=" + dearModel(t), "OPENAI_MODEL=scripted",
		"OPENAI_INPUT_USD_PER_MTOK=1",
		"OPENAI_OUTPUT_USD_PER_MTOK=1", "DAILY_USD_LIMIT=1.5", "REQUEST_USD_LIMIT=100"}
	page, errs, code := invoke(t, environ, "demo", "--once")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, th := range forum.Parse("Wikidata:Request a query", page, forum.Options{}).Threads {
		for _, c := range th.Comments {
			if c.By(sandboxBot) {
				t.Errorf("%q got a reply:\n%s", th.Heading, page[c.Start:c.End])
			}
		}
	}
	list, errs, code := invoke(t, environ, "ledger", "list")
	if code != exitOK || !strings.Contains(list, "waits for tomorrow") {
		t.Errorf("exit %d: %s%s", code, list, errs)
	}
}

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// meaningServer serves a model that gives up immediately and an embedding model that distinguishes cities from people.
// embedded counts the strings sent to the embedding model; down makes it fail.
type meaningServer struct {
	embedded atomic.Int32
	down     atomic.Bool
}

func (m *meaningServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if !strings.HasSuffix(r.URL.Path, "/embeddings") {
		_, _ = w.Write([]byte(`{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[
			{"id":"c1","type":"function","function":{"name":"cancel","arguments":"{\"explanation\":\"no\"}"}}]}}],"usage":{}}`))
		return
	}
	if m.down.Load() {
		http.Error(w, `{"error":{"message":"no embeddings here"}}`, http.StatusNotFound)
		return
	}
	var req struct{ Input []string }
	_ = json.NewDecoder(r.Body).Decode(&req)
	var data []map[string]any
	for i, text := range req.Input {
		v := []float32{0, 1}
		if strings.Contains(text, "city") || strings.Contains(text, "town") {
			v = []float32{1, 0}
		}
		data = append(data, map[string]any{"index": i, "object": "embedding", "embedding": v})
		m.embedded.Add(1)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]int{"prompt_tokens": 1}})
}

// TestExamplesByMeaning checks that an embedding model, if configured, ranks the solved questions, and that the vectors
// are kept for the next start. If the model fails, the failure is reported once, and the questions are ranked by word
// matches instead. Items with broken queries are listed.
func TestExamplesByMeaning(t *testing.T) {
	m := &meaningServer{}
	s := httptest.NewServer(m)
	defer s.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "train.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"mayor","question":"Who governs Bonn, the largest?","sparql":"SELECT ?m WHERE { wd:Q586 wdt:P6 ?m }","paraphrases":[]}
{"id":"cities","question":"Name each city","sparql":"SELECT ?c WHERE { ?c wdt:P31 wd:Q515 }","paraphrases":[]}
{"id":"bad-1","question":"Broken?","sparql":"SELECT ?c WHERE {","paraphrases":[]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"DATA_DIR=" + dir, "OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_MODEL=m"}
	ask := func(environ []string) (shown, errs string) {
		out, errs, _ := invoke(t, environ, "ask", "--json", "--kg", "embedded", "--preset", "grasp-similar", "--examples", file,
			"--force-examples", "1", "Which is the largest town?")
		for line := range strings.SplitSeq(out, "\n") {
			var x struct{ Event, ID string }
			if json.Unmarshal([]byte(line), &x) == nil && x.Event == "example" {
				shown += x.ID
			}
		}
		return shown, errs
	}
	if got, errs := ask(environ); got != "mayor" || m.embedded.Load() != 0 ||
		!strings.Contains(errs, "warning: 1 item of --examples left out, because the query is not SPARQL: bad-1") {
		t.Errorf("by words: %q, %d texts embedded, said:\n%s", got, m.embedded.Load(), errs)
	}
	environ = append(environ, "OPENAI_EMBEDDING_MODEL=e")
	if got, errs := ask(environ); got != "cities" || m.embedded.Load() != 3 {
		t.Errorf("by meaning: %q, %d texts embedded, said:\n%s", got, m.embedded.Load(), errs)
	}
	if got, _ := ask(environ); got != "cities" || m.embedded.Load() != 3 {
		t.Errorf("again: %q, %d texts embedded", got, m.embedded.Load())
	}
	m.down.Store(true)
	got, errs := ask(append(environ, "OPENAI_EMBEDDING_MODEL=other"))
	if got != "mayor" || strings.Count(errs, "ranked by words") != 1 {
		t.Errorf("without the service: %q, said:\n%s", got, errs)
	}
}

// TestNoExamples checks that a preset that shows solved questions causes one warning if there are none.
func TestNoExamples(t *testing.T) {
	s := httptest.NewServer(&meaningServer{})
	defer s.Close()
	_, errs, _ := invoke(t, []string{"DATA_DIR=" + t.TempDir(), "OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_MODEL=m"}, "ask",
		"--kg", "embedded", "--preset", "grasp-similar", "Which is the largest town?")
	if strings.Count(errs, "specify a file with --examples") != 1 || strings.Contains(errs, "WARN") {
		t.Errorf("%s", errs)
	}
}

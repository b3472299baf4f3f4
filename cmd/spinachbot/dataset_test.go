package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/dataset/datasettest"
	"github.com/spinachbot/spinachbot/internal/store"
)

// annotated creates a harvest folder in which Ada included the first and third candidates and excluded the second, and
// Ben confirmed the first.
func annotated(t *testing.T) string {
	t.Helper()
	g, err := builtinGraph(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cs, err := datasettest.Write(t.Context(), dir, g)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, annotationsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, w := range []struct {
		n       int
		who     string
		verdict dataset.Verdict
	}{{0, "Ada", dataset.Include}, {1, "Ada", dataset.Exclude}, {2, "Ada", dataset.Include}, {0, "Ben", dataset.Include},
		{0, annotate.Resolution, dataset.Include}} {
		at = at.Add(time.Minute)
		work := &annotate.Work{Candidate: cs[w.n].ID, Annotator: w.who, Query: cs[w.n].Cleaned,
			Question: cs[w.n].Suggestion.Natural, Verdict: w.verdict, Decided: at, Updated: at}
		if err := st.SaveWork(t.Context(), work, &annotate.Event{At: at, Who: "x" + w.who,
			Kind: annotate.Judged}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return environCall(t, []string{"HOME=" + t.TempDir()}, args...)
}

func environCall(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, environ: environ, now: time.Now}
	code = run(t.Context(), e, args)
	return code, out.String(), errs.String()
}

func TestDatasetExportAndVerify(t *testing.T) {
	dir := annotated(t)
	code, out, errs := call(t, "dataset", "export", dir)
	if code != exitOK || strings.Count(out, `"id"`) != 1 || !strings.Contains(out,
		"Which African countries have no coast") {
		t.Fatalf("export: %d %s %s", code, out, errs)
	}
	file := filepath.Join(dir, "bench.json")
	if code, _, errs := call(t, "dataset", "export", "--state", "included", "--format", "qald", "--out", file,
		dir); code != exitOK || !strings.Contains(errs, "2 items") {
		t.Fatalf("export to a file: %d %s", code, errs)
	}
	for _, what := range []string{file, dir} {
		code, out, errs := call(t, "dataset", "verify", "--kg", "embedded", "--state", "included", "--json", what)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if code != exitOK || len(lines) != 3 || !strings.Contains(lines[2], `{"summary":{"items":2,"status":{"same":2}}}`) {
			t.Errorf("verify %s: %d %s %s", what, code, out, errs)
		}
	}
	// Any graph in the registry can be used; the library has none of the items.
	graph := "graphs: {library: {endpoint: \"" + libraryServer(t) + "\", statements: wikibase}}"
	kgFile := filepath.Join(dir, "graphs.yaml")
	if err := os.WriteFile(kgFile, []byte(graph), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call(t, "dataset", "verify", "--kg-file", kgFile, "--kg", "library", file); code != exitFailed ||
		!strings.Contains(out, "2 items: 2 empty") {
		t.Errorf("verify on another graph: %d %s %s", code, out, errs)
	}
	if code, _, errs := call(t, "dataset", "verify", "--kg", "nope", file); code != exitUsage ||
		!strings.Contains(errs, `there is no graph "nope"`) {
		t.Errorf("verify on no graph: %d %s", code, errs)
	}
	// If a query no longer returns any rows, the exit status is 1.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte("wd:Q15"), []byte("wd:Q999999999")), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := call(t, "dataset", "verify", "--kg", "embedded", file); code != exitFailed || !strings.Contains(out,
		"empty    no rows, had 17") || !strings.Contains(out, "2 items: 1 same, 1 empty") {
		t.Errorf("verify an empty item: %d %s", code, out)
	}
}

// An interrupted verification continues where it stopped, and its report is the same as that of an uninterrupted one.
func TestDatasetVerifyResumes(t *testing.T) {
	dir := annotated(t)
	name := filepath.Join(dir, "report.jsonl")
	verify := func() (int, string, string) {
		return call(t, "dataset", "verify", "--kg", "embedded", "--state", "included", "--report", name, dir)
	}
	if code, _, errs := verify(); code != exitOK {
		t.Fatalf("verify: %d %s", code, errs)
	}
	whole, err := os.ReadFile(name)
	if err != nil || bytes.Count(whole, []byte("\n")) != 3 {
		t.Fatalf("report: %s %v", whole, err)
	}
	if code, _, errs := verify(); code != exitFailed || !strings.Contains(errs, "complete") {
		t.Errorf("a complete report: %d %s", code, errs)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for _, cut := range []int{0, 7, first, first + 20} {
		if err := os.WriteFile(name, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := verify()
		again, err := os.ReadFile(name)
		if code != exitOK || err != nil || !strings.Contains(out, "2 items: 2 same") || !bytes.Equal(whole[:first],
			again[:first]) && cut >= first || bytes.Count(again, []byte("\n")) != 3 {
			t.Errorf("cut at %d: %d %s %s %s", cut, code, out, errs, again)
		}
		if cut >= first && (!strings.Contains(errs, "1 of 2") || strings.Count(out, "\n") != 2) {
			t.Errorf("cut at %d, run again: %s %s", cut, out, errs)
		}
	}
	for text, want := range map[string]string{"hello\n": "not a report", `{"id":"x","status":"same"}` +
		"\n": "other items"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := verify(); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", text, code, errs)
		}
		if now, _ := os.ReadFile(name); string(now) != text {
			t.Errorf("a file of something else was changed to %s", now)
		}
	}
}

func TestDatasetSplitAndCard(t *testing.T) {
	dir := annotated(t)
	if code, out, errs := call(t, "dataset", "split", "--state", "included", "--dev", "1", dir); code != exitOK ||
		!strings.Contains(out, "dev.json: 1 items") || !strings.Contains(out, "test.json: 1 items") {
		t.Fatalf("split: %d %s %s", code, out, errs)
	}
	for _, name := range []string{"dev.json", "test.json"} {
		var items []map[string]any
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(b, &items)
		}
		if err != nil || len(items) != 1 {
			t.Errorf("%s: %v %v", name, items, err)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "dev.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--dev", "9999"}, "9999 of 2 items in dev leave none for test"},
		{[]string{"--dev", "9999", "--force"}, "9999 of 2 items"},
		{[]string{"--dev", "0"}, "choose another share"},
		{[]string{"--dev", "1", "--format", "qald"}, "add --force"},
	} {
		args := append(append([]string{"dataset", "split", "--state", "included"}, c.args...), dir)
		if code, _, errs := call(t, args...); code != exitFailed || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %d %s, want %q", c.args, code, errs, c.want)
		}
		if after, err := os.ReadFile(filepath.Join(dir, "dev.json")); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%q changed the existing split: %v", c.args, err)
		}
	}
	if code, _, errs := call(t, "dataset", "split", "--state", "included", "--dev", "1", dir); code != exitOK {
		t.Errorf("the same split again: %d %s", code, errs)
	}
	if code, _, errs := call(t, "dataset", "split", "--state", "included", "--dev", "1", "--format", "qald", "--force",
		dir); code != exitOK {
		t.Errorf("another form with --force: %d %s", code, errs)
	}
	code, out, errs := call(t, "dataset", "card", "--name", "Forum bench", dir)
	if code != exitOK || !strings.Contains(out, "# Forum bench") || !strings.Contains(out, "observed agreement 100%") ||
		!strings.Contains(out, "clauses") {
		t.Errorf("card: %d %s %s", code, out, errs)
	}
}

// Candidates excluded by annotators do not become training data. If no one has annotated a harvest, nothing is
// excluded.
func TestReadExcluded(t *testing.T) {
	dir := annotated(t)
	candidates, err := dataset.ReadCandidatesDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	excluded, err := readExcluded(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for i := range candidates {
		if excluded[candidates[i].ID] {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, []int{1}) {
		t.Errorf("the candidates %v are excluded, want the second", got)
	}
	if err := os.Remove(filepath.Join(dir, annotationsFile)); err != nil {
		t.Fatal(err)
	}
	if excluded, err := readExcluded(t.Context(), dir); err != nil || len(excluded) != 0 {
		t.Errorf("without annotations: %v, %v", excluded, err)
	}
}

func TestDatasetMisuse(t *testing.T) {
	dir := annotated(t)
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"dataset"}, exitUsage, "annotate"},
		{[]string{"dataset", "dance"}, exitUsage, `there is no command "dance"`},
		{[]string{"dataset", "annotate"}, exitUsage, "specify the folder of a harvest"},
		{[]string{"dataset", "annotate", "--addr", "0.0.0.0:8090", dir}, exitUsage, "only on loopback"},
		{[]string{"dataset", "annotate", "--addr", "192.0.2.1:8090", dir}, exitUsage, "only on loopback"},
		{[]string{"dataset", "annotate", "--addr", ":8090", dir}, exitUsage, "only on loopback"},
		{[]string{"dataset", "annotate", "--addr", "8090", dir}, exitUsage, "not an address"},
		{[]string{"dataset", "annotate", "--kg", "moon", "--addr", "127.0.0.1:0", dir}, exitUsage,
			`there is no graph "moon"`},
		{[]string{"dataset", "annotate", "--addr", "127.0.0.1:0", empty}, exitFailed, "run spinachbot harvest"},
		{[]string{"dataset", "export", empty}, exitFailed, "annotate first"},
		{[]string{"dataset", "export", "--format", "xml", dir}, exitUsage, "want spinach, grasp or qald"},
		{[]string{"dataset", "export", "--state", "all", dir}, exitUsage, "--state"},
		{[]string{"dataset", "split", "--dev", "110%", dir}, exitUsage, "--dev"},
		{[]string{"dataset", "split", "--dev", "-1", dir}, exitUsage, "--dev"},
		{[]string{"dataset", "split", "--near", "far", dir}, exitUsage, "--near"},
		{[]string{"dataset", "verify", filepath.Join(empty, "x.json")}, exitUsage, "x.json"},
		{[]string{"dataset", "annotate", "--addr", "127.0.0.1:0", filepath.Join(empty, "no")}, exitUsage,
			"no file or folder"},
		{[]string{"dataset", "export", filepath.Join(empty, "no")}, exitUsage, "no file or folder"},
	} {
		if code, _, errs := call(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %q; want %d, %q", c.args, code, errs, c.code, c.want)
		}
	}
	if code, out, _ := call(t, "dataset", "-h"); code != exitOK || !strings.Contains(out, "verify") {
		t.Errorf("help: %d %s", code, out)
	}
}

// The annotation page is served until the program is told to stop; it then shuts down cleanly.
func TestDatasetAnnotate(t *testing.T) {
	dir := annotated(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, &env{stdin: strings.NewReader(""), stdout: w, stderr: io.Discard, now: time.Now}, []string{"dataset",
			"annotate", "--kg", "embedded", "--addr", "127.0.0.1:0", dir})
	}()
	line := make([]byte, 100)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(string(line[:n])), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "annotator", Value: "Ben"})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(page), "1 of 10 resolved") {
		t.Errorf("the page: %s %v %.300s", resp.Status, err, page)
	}
	// A later harvest is detected without a restart.
	name := filepath.Join(dir, dataset.CandidatesFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.ReplaceFile(name, text[:bytes.LastIndexByte(bytes.TrimSpace(text), '\n')+1]); err != nil {
		t.Fatal(err)
	}
	resp, err = http.DefaultClient.Do(req.Clone(ctx))
	if err != nil {
		t.Fatal(err)
	}
	page, err = io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(page), "1 of 9 resolved") {
		t.Errorf("after another harvest: %v %.300s", err, page)
	}
	cancel()
	if code := <-done; code != exitOK {
		t.Errorf("after the stop: status %d", code)
	}
}

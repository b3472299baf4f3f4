//go:build integration

package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// benchQuestions are questions that the sandbox's script answers.
const benchQuestions = `{"id":"a","question":"What is the capital of Ivory Coast according to Wikidata? An item number would be nice.","sparql":"SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c }"}
{"id":"b","question":"How many landlocked countries are there in Africa?","sparql":"SELECT (COUNT(?c) AS ?n) WHERE { ?c wdt:P30 wd:Q15 }"}
{"id":"c","question":"Which British monarchs are descendants of Queen Victoria, however many generations down?","sparql":"SELECT ?m WHERE { wd:Q9439 wdt:P40+ ?m . ?m wdt:P39 wd:Q9134365 }"}
`

// TestRunsInTheBrowser simulates a user who finds a run, opens its tree, follows a node to its turn, compares two runs,
// and watches a benchmark run until it ends.
func TestRunsInTheBrowser(t *testing.T) {
	t.Parallel()
	a := &askSite{t: t, shots: os.Getenv("RUNS_SHOTS")}
	if a.shots == "" {
		a.shots = t.TempDir()
	}
	bin := binary(t)
	sandbox := a.start(bin, nil, "sandbox", "--addr", "127.0.0.1:0")
	behind, err := url.Parse(sandbox)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	hold := make(chan struct{}) // while the benchmark is running, every call except the first waits for this channel
	var bench atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(behind)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bench.Load() && calls.Add(1) > 12 {
			select {
			case <-hold:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(model.Close)
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release) // after a failed test, a pending call would keep the server from closing
	dir := t.TempDir()
	env := []string{"SPARQL_ENDPOINT=" + sandbox + "/sparql", "OPENAI_BASE_URL=" + model.URL + "/v1", "OPENAI_MODEL=scripted",
		"DATA_DIR=" + filepath.Join(dir, "data")}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.Background(), bin, args...)
		cmd.Dir = dir
		cmd.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, env...)
		return cmd
	}
	question := "How many landlocked countries are there in Africa?"
	for _, args := range [][]string{{"ask", question}, {"ask", "--preset", "spinach", "--policy", "mcts", question}} {
		if out, err := run(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bench.jsonl"), []byte(benchQuestions), 0o600); err != nil {
		t.Fatal(err)
	}
	base := a.start(bin, env, "serve", "--addr", "127.0.0.1:0", "--benchmarks", filepath.Join(dir, "bench"))

	p := newTab(t, 1280, 900)
	p.open(base + "/runs?q=landlocked")
	p.until(`document.querySelectorAll("tbody tr").length === 2`)
	a.view(p, "runs-list")
	eval[bool](p, `document.querySelector("tbody a").click(), true`)
	p.until(`document.querySelector(".tree svg a") && !document.querySelector("#zoom").hidden`)
	eval[bool](p, complaints)
	before := eval[float64](p, `document.querySelector(".tree svg").clientWidth`)
	eval[bool](p, `document.querySelector("#zoom button:last-child").click(), true`)
	if after := eval[float64](p, `document.querySelector(".tree svg").getBoundingClientRect().width`); after <= before {
		t.Errorf("the picture was %v wide and is %v", before, after)
	}
	a.view(p, "runs-tree")
	tree := eval[string](p, `location.pathname`)
	eval[bool](p, `document.querySelector(".tree svg a").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})), true`)
	p.until(`location.hash.startsWith("#e") && document.querySelector("li:target .thought")`)
	p.open(base + "/runs")
	eval[bool](p, `document.querySelectorAll("input[name=run]").forEach(b => b.click()), document.querySelector("form[action='/runs/compare'] button").click(), true`)
	p.until(`location.pathname === "/runs/compare" && document.querySelectorAll("thead th a").length === 2`)
	a.view(p, "runs-compare")

	bench.Store(true)
	at := run("eval", "run", "--out", "bench/one", "--jobs", "1", "bench.jsonl")
	if err := at.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Process.Kill() })
	for done := false; !done; {
		p.open(base + "/runs/benchmarks")
		done = eval[bool](p, `document.querySelector("tbody a") !== null`)
	}
	eval[bool](p, `document.querySelector("tbody a").click(), true`)
	p.until(`document.querySelector("#live") && document.querySelectorAll("#items tr").length > 0`)
	seen := eval[int](p, `document.querySelectorAll("#items tr").length`)
	if seen >= 3 {
		t.Errorf("%d items are done too early", seen)
	}
	a.view(p, "runs-live")
	release()
	if err := at.Wait(); err != nil {
		t.Fatal(err)
	}
	p.until(`!document.querySelector("#live") && document.querySelectorAll("#items tr").length === 3`)
	if first := eval[string](p, `document.querySelector("#items tr .badge").className`); first != "badge state-wrong" {
		t.Errorf("the first item is %q", first)
	}
	a.view(p, "runs-benchmark")
	if problems := eval[[]string](p, `window.problems ?? []`); len(problems) > 0 {
		t.Errorf("the page complains: %v", problems)
	}
	p.open(base + "/runs")
	compare := eval[string](p, `"/runs/compare?" + [...document.querySelectorAll("input[name=run]")].slice(0, 2).map(i => "run=" + i.value).join("&")`)
	for _, width := range []int64{320, 390} {
		narrow := newTab(t, width, 800)
		for name, path := range map[string]string{"list": "/runs", "benchmarks": "/runs/benchmarks", "benchmark": "/runs/benchmark/one", "item": "/runs/benchmark/one/b", "compare": compare} {
			narrow.open(base + path)
			a.view(narrow, fmt.Sprintf("runs-%s-%d", name, width))
			narrow.unswiped(path, "none")
		}
		narrow.open(base + tree)
		narrow.until(`document.querySelector(".tree > .narrow a")?.checkVisibility() && !document.querySelector("#zoom").hidden`)
		a.view(narrow, fmt.Sprintf("runs-tree-%d", width))
		narrow.unswiped(tree, "none")
		a.zoom(narrow)
	}
}

// zoom zooms in and out of a tree's drawing, using the keyboard and two fingers.
func (a *askSite) zoom(p *tab) {
	a.t.Helper()
	wide := func() float64 {
		return eval[float64](p, `document.querySelector(".tree > .narrow").getBoundingClientRect().width`)
	}
	eval[bool](p, `(document.querySelector(".tree").focus(), document.querySelector(".tree").scrollIntoView(), true)`)
	fits := wide()
	p.press("+", "+", "-")
	if now := wide(); now < 1.2*fits || now > 1.3*fits {
		a.t.Errorf("with keys, the picture was %v wide and is %v", fits, now)
	}
	p.press("0")
	if now := wide(); now != fits {
		a.t.Errorf("the picture was %v wide and is %v", fits, now)
	}
	for i, apart := range []float64{60, 80, 120} {
		kind := input.DispatchTouchEventTypeTouchMove
		if i == 0 {
			kind = input.DispatchTouchEventTypeTouchStart
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind,
			TouchPoints: []*input.TouchPoint{{X: 160 - apart/2, Y: 200, ID: new(1.0)}, {X: 160 + apart/2, Y: 200, ID: new(2.0)}}}); err != nil {
			a.t.Fatal(err)
		}
	}
	if _, err := chromedp.Call(p.ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd,
		TouchPoints: []*input.TouchPoint{}}); err != nil {
		a.t.Fatal(err)
	}
	if now := wide(); now < 1.9*fits || now > 2.1*fits {
		a.t.Errorf("with two fingers, the picture was %v wide and is %v", fits, now)
	}
}

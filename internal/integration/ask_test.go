//go:build integration

package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// askSite is the program's server with the sandbox's graph and a model that can be made to wait.
type askSite struct {
	t     *testing.T
	base  string
	shots string

	commons  *commons // the picture service
	bin, dir string   // paths of the program and of its DATA_DIR
	env      []string // the program's settings

	mu    sync.Mutex
	calls int // remaining calls to the model; unlimited if negative
}

func newAskSite(t *testing.T) *askSite {
	t.Helper()
	a := &askSite{t: t, shots: os.Getenv("ASK_SHOTS"), calls: -1, bin: binary(t), dir: t.TempDir()}
	if a.shots == "" {
		a.shots = t.TempDir()
	}
	if err := os.Chmod(a.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/ask-script.txt")
	if err != nil {
		t.Fatal(err)
	}
	sandbox := a.start(a.bin, nil, "sandbox", "--addr", "127.0.0.1:0", "--script", script)
	behind, err := url.Parse(sandbox)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for !a.may() {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
		defer func() { // an answer that broke off is asked for again
			if v := recover(); v != nil {
				a.giveBack(r)
				panic(v)
			}
		}()
		proxy.ServeHTTP(w, r)
	}))
	proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
		a.giveBack(r)
		w.WriteHeader(http.StatusBadGateway)
	}
	t.Cleanup(model.Close)
	t.Cleanup(func() { a.let(-1) }) // after a failed test, a pending call would keep the server from closing
	a.commons = newCommons(t)
	a.env = []string{"SPARQL_ENDPOINT=" + sandbox + "/sparql", "OPENAI_BASE_URL=" + model.URL + "/v1",
		"OPENAI_MODEL=scripted", "DATA_DIR=" + a.dir, "PICTURES_URL=" + a.commons.URL + "/wiki/Special:FilePath/"}
	a.base, _ = a.serve("127.0.0.1:0")
	return a
}

// serve starts the server, and returns a function that kills it.
func (a *askSite) serve(addr string) (base string, kill func()) {
	a.t.Helper()
	return a.startKill(a.bin, a.env, "serve", "--preset", "spinach", "--addr", addr, "--ask-rate", "0")
}

// start starts the program and returns the address that it prints.
func (a *askSite) start(bin string, env []string, args ...string) string {
	a.t.Helper()
	base, _ := a.startKill(bin, env, args...)
	return base
}

func (a *askSite) startKill(bin string, env []string, args ...string) (base string, kill func()) {
	a.t.Helper()
	cmd := exec.CommandContext(context.Background(), bin, args...)
	cmd.Dir = a.t.TempDir()
	cmd.Env = append([]string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	a.t.Cleanup(kill)
	silent := time.AfterFunc(time.Minute, kill)
	defer silent.Stop()
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if found := address.FindString(sc.Text()); found != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found, kill
		}
	}
	a.t.Fatalf("%s prints no address", args[0])
	return "", nil
}

// hold blocks the model until the returned function is called.
func (a *askSite) hold() (release func()) {
	a.let(0)
	return func() { a.let(-1) }
}

// let lets the model answer n more calls, or any number of calls if n is -1.
func (a *askSite) let(calls int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = calls
}

// may reports whether the model may answer one more call, and counts that call.
func (a *askSite) may() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls > 0 {
		a.calls--
		return true
	}
	return a.calls < 0
}

// giveBack lets the model answer one more call, in place of one that failed on the way to a client that is still there.
func (a *askSite) giveBack(r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls >= 0 && r.Context().Err() == nil {
		a.calls++
	}
}

// view checks a view's accessibility, checks that nothing is wider than the window, and saves a screenshot.
func (a *askSite) view(p *tab, name string) {
	a.t.Helper()
	p.accessible(name)
	if wide := eval[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide > 0 {
		a.t.Errorf("%s: the page is %d pixels wider than the window", name, wide)
	}
	p.shot(filepath.Join(a.shots, name+".png"))
}

// ask asks a question using the keyboard.
func (a *askSite) ask(p *tab, question string) {
	p.open(a.base + "/")
	p.until(`document.activeElement.name === "q"`)
	p.typeText(question)
	p.press("Tab", "Tab", "Enter")
	p.until(`location.pathname.startsWith("/a/")`)
}

// answered is a JavaScript condition that is true when an answer with rows is shown.
const answered = `document.querySelector(".report") && document.querySelector("#rows")`

// complaints collects errors from the page's scripts and violations of its content security policy.
const complaints = `window.problems = window.problems ?? [], addEventListener("error", e => problems.push(e.message)), addEventListener("securitypolicyviolation", e => problems.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample)), true`

func TestAskInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	p := newTab(t, 1280, 900)
	p.open(a.base + "/")
	a.view(p, "ask-form")
	release := a.hold()
	a.ask(p, "How many people live in the larger countries of Europe?")
	p.until(`document.querySelector("[data-connected]")`)
	if steps := eval[int](p, `document.querySelectorAll(".step").length`); steps != 0 {
		t.Errorf("%d steps before the model answered", steps)
	}
	release()
	p.until(answered)
	a.result(p)
	a.whyAndWhyNot(p)
	a.change(p)
	a.followUp(p)
	a.views(p)
	a.editor(p)
	a.stopped(p)
	a.languagesAndSizes(p)
}

// result checks the table and the chart of the first question.
func (a *askSite) result(p *tab) {
	p.until(`document.querySelector("#other-view[data-shown=chart] rect")`) // the query's #defaultView
	p.until(complaints)
	a.view(p, "ask-chart")
	p.until(`document.querySelector("#tab-table").click() ?? true`)
	p.until(`document.querySelector("#tab-table").focus() ?? true`)
	p.press("ArrowRight")
	p.until(`document.querySelector("#table-view").hidden && document.activeElement.id === "tab-chart"`)
	p.until(`document.querySelector("#tab-table").click() ?? true`)
	p.until(`!document.querySelector("#table-view").hidden`)
	a.view(p, "ask-result")
	if first := eval[string](p, `document.querySelector("#rows tbody td").textContent`); !strings.HasPrefix(first, "Russia") {
		a.t.Errorf("the first row is %q", first)
	}
	p.until(`document.querySelector("#rows thead a").click() ?? true`)
	p.until(`document.querySelector("#rows [aria-sort=ascending]")`)
	if marks := eval[string](p, `[...document.querySelectorAll("#rows th[aria-sort] > a")].map(a => getComputedStyle(a, "::after").content[2]).join("")`); marks != "↑⇅" {
		a.t.Errorf("the columns are marked %q", marks)
	}
	if first := eval[string](p, `document.querySelector("#rows tbody td").textContent`); !strings.HasPrefix(first, "Austria") {
		a.t.Errorf("ordered by name, the first row is %q", first)
	}
	id := eval[string](p, `document.querySelector("#asked").dataset.id`)
	p.open(a.base + "/a/" + id + "?filter=germany")
	p.until(`document.querySelectorAll("#rows tbody tr").length === 1`)
	for kind, want := range map[string]string{"csv": "country,countryLabel,population\n", "tsv": "?country\t?countryLabel\t?population\n",
		"json": `{"head":{"vars":["country"`, "md": "| country | population |\n", "wiki": "{| class=\"wikitable sortable\"\n"} {
		got := eval[string](p, `fetch("/a/`+id+`/result/`+kind+`").then(r => r.text())`)
		if !strings.HasPrefix(got, want) {
			a.t.Errorf("%s begins with %.80q", kind, got)
		}
	}
	if query := eval[string](p, `document.querySelector("a[href^='https://query.wikidata.org/']").hash`); !strings.Contains(query, "P1082") {
		a.t.Errorf("the query service gets %q", query)
	}
}

// whyAndWhyNot asks why Germany is in the result, and why Malta is not.
func (a *askSite) whyAndWhyNot(p *tab) {
	p.until(`document.querySelector("td.why a").click() ?? true`)
	p.until(`document.querySelector(".statement")`)
	a.view(p, "ask-row")
	if text := eval[string](p, `document.querySelector(".facts-list").textContent`); !strings.Contains(text, "continent") || !strings.Contains(text, "population") {
		a.t.Errorf("the row is explained by %q", text)
	}
	p.until(`document.querySelector("main a").click() ?? true`)
	p.until(answered)
	p.until(`document.querySelector("input[name=item]").focus() ?? true`)
	p.typeText("Malta")
	p.press("Enter")
	p.until(`location.pathname.endsWith("/missing")`)
	p.until(`document.querySelector("li pre")`)
	a.view(p, "ask-missing")
	if text := eval[string](p, `document.querySelector("main").textContent`); !strings.Contains(text, "5000000") || !strings.Contains(text, "Without this condition") {
		a.t.Errorf("why Malta is missing: %q", text)
	}
	p.until(`document.querySelector("main a").click() ?? true`)
	p.until(answered)
}

// change replaces the query in the third step; the run continues from there.
func (a *askSite) change(p *tab) {
	p.until(`[...document.querySelectorAll(".step a")].find(a => a.href.endsWith("/step/3")).click() ?? true`)
	p.until(`document.querySelector("textarea[name=turn]")`)
	a.view(p, "ask-step")
	p.until(`(() => { const f = document.querySelector("textarea[name=turn]"); f.value = f.value.replace("5000000", "80000000"); f.form.querySelector("button").click(); return true; })()`)
	p.until(`!location.pathname.includes("/step/")`)
	p.until(answered)
	p.until(`document.querySelector("#pages").textContent.includes("of 3 rows")`)
	if steps := eval[int](p, `document.querySelectorAll(".step").length`); steps != 4 {
		a.t.Errorf("%d steps after the change, want 4", steps)
	}
}

func (a *askSite) followUp(p *tab) {
	p.until(`document.querySelector("section form textarea[name=q]").focus() ?? true`)
	p.typeText("Only those with more than 60 million")
	p.press("Tab", "Enter")
	p.until(`document.querySelector(".earlier")`)
	p.until(answered)
	if text := eval[string](p, `document.querySelector(".earlier").textContent`); !strings.Contains(text, "How many people") {
		a.t.Errorf("the conversation so far is %q", text)
	}
	a.view(p, "ask-follow-up")
}

// views opens the map, the timeline and the network.
func (a *askSite) views(p *tab) {
	for _, v := range []struct{ question, view, there string }{
		{"Where are the highest mountains?", "map", `.leaflet-container canvas`},
		{"Which countries border each other in Europe?", "graph", `svg .edge`},
		{"Who was president of the United States, and when?", "timeline", `.timeline li`},
	} {
		a.ask(p, v.question)
		p.until(answered)
		p.until(complaints)
		p.until(`document.querySelector("#tab-` + v.view + `").click() ?? true`)
		p.until(`document.querySelector("#other-view[data-shown=` + v.view + `] ` + v.there + `")`)
		time.Sleep(300 * time.Millisecond) // the map draws itself
		if v.view == "map" {               // sample two points without a marker, in Eurasia and the Indian Ocean
			if painted := eval[[]int](p, `(c => [[0.5, 0.3], [0.5, 0.97]].map(([x, y]) => c.getContext("2d").getImageData(Math.round(c.width * x), Math.round(c.height * y), 1, 1).data[3]))(document.querySelector(".leaflet-container canvas"))`); painted[0] != 255 {
				a.t.Errorf("the opacity of land and sea is %v", painted)
			}
		}
		p.until(`document.querySelector("#result").scrollIntoView() ?? true`)
		a.view(p, "ask-"+v.view)
		if covered := eval[[]string](p, `(t => t.flatMap((a, i) => t.slice(0, i).filter(b => ((p, q) => p.left < q.right && q.left < p.right && p.top + 3 < q.bottom && q.top + 3 < p.bottom)(a.getBoundingClientRect(), b.getBoundingClientRect())).map(b => a.textContent + " " + b.textContent)))([...document.querySelectorAll(".drawing text.halo")])`); len(covered) > 0 {
			a.t.Errorf("%s: names cover each other: %q", v.view, covered)
		}
		if found := eval[[]string](p, "window.problems"); len(found) > 0 {
			a.t.Errorf("%s: the browser complains: %q", v.view, found)
		}
	}
}

// editor types a query using completions, makes a mistake, corrects it, and runs the query.
func (a *askSite) editor(p *tab) {
	p.open(a.base + "/editor")
	p.until(complaints)
	p.until(`document.querySelector("#source").focus() ?? true`)
	p.typeText("SELECT ?c WHERE { wd:Ivory_Co")
	p.until(`document.querySelector("#completions li")?.textContent.includes("Ivory Coast")`)
	a.view(p, "editor-completion")
	p.press("Enter")
	p.typeText(" wdt:capi")
	p.until(`document.querySelector("#completions li")?.textContent.startsWith("capital")`)
	p.press("Enter")
	p.typeText(" ?c } LIMT 3")
	p.until(`document.querySelector("#marks .bad") && document.querySelector("#colors .wrong")?.textContent === "LIMT"`)
	a.view(p, "editor-mistake")
	p.until(`((b) => b && (b.click(), true))([...document.querySelectorAll("#marks button")].find((b) => b.textContent === "Write LIMIT"))`)
	p.until(`document.querySelector("#source").value.endsWith(" ?c } LIMIT 3")`)
	p.until(`!document.querySelector("#marks .bad")`)
	p.until(`document.querySelector("#source").setSelectionRange(21, 21) ?? true`)
	p.until(`document.querySelector("#name").textContent === "Q1008: Ivory Coast"`) // label of the ID at the cursor
	p.until(`(r => document.querySelector("#source").dispatchEvent(new MouseEvent("mousemove", {clientX: r.left + 200, clientY: r.top + 20, bubbles: true})) && document.querySelector("#tip").textContent === "Q1008: Ivory Coast")(document.querySelector("#source").getBoundingClientRect())`)
	p.press("Run")
	p.until(`document.querySelector("#rows")?.textContent.includes("Yamoussoukro")`)
	a.view(p, "editor-result")
	p.until(`document.querySelector("button[value=explain]").click() ?? true`)
	p.until(`document.querySelector("main .card")?.textContent.includes("Ivory Coast (Q1008): capital")`)
}

// stopped stops a question and then continues it.
func (a *askSite) stopped(p *tab) {
	release := a.hold()
	a.ask(p, "Where are the highest mountains?")
	p.until(`document.querySelector("[data-connected]")`)
	a.view(p, "ask-working")
	p.until(`document.querySelector("#state button").click() ?? true`)
	p.until(`document.querySelector(".note")?.textContent.includes("stopped")`)
	release()
	p.until(`document.querySelector("form[action$='/continue'] button").click() ?? true`)
	p.until(answered)
}

// languagesAndSizes checks the pages in German, on a phone, in dark mode, and in a right-to-left language.
func (a *askSite) languagesAndSizes(p *tab) {
	for _, width := range []int64{320, 390} {
		small := newTab(a.t, width, 800)
		small.open(a.base + "/?lang=de")
		small.until(`document.documentElement.lang === "de" && document.body.textContent.includes("Deine Frage")`)
		a.view(small, fmt.Sprintf("ask-form-%d", width))
		a.ask(small, "How many people live in the larger countries of Europe?")
		small.until(answered)
		small.until(`document.querySelector("#tab-table").click() ?? true`)
		a.view(small, fmt.Sprintf("ask-result-%d", width))
		small.unswiped("a result", ".never")
		small.until(`document.querySelector("#tab-chart").click() ?? true`)
		small.until(`document.querySelector("#other-view[data-shown=chart] .chart svg")`)
		small.unswiped("a chart", ".never")
		small.until(`document.querySelector("#tab-table").click() ?? true`)
		small.until(`(document.documentElement.dir = "rtl") === "rtl"`)
		a.view(small, fmt.Sprintf("ask-rtl-%d", width))
		small.open(a.base + "/editor?lang=en")
		small.until(`document.querySelector("#source").focus() ?? true`)
		small.typeText("SELECT ?c WHERE { wd:Ivory_Co")
		small.until(`document.querySelector("#completions li")?.textContent.includes("Ivory Coast")`)
		a.view(small, fmt.Sprintf("editor-completion-%d", width))
	}
	p.scheme("dark")
	p.open(a.base + "/")
	p.shot(filepath.Join(a.shots, "ask-form-dark.png"))
}

// Without JavaScript, a question is asked through a form, and its page has everything except the views.
func TestAskWithoutScripts(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	client := &http.Client{Timeout: 20 * time.Second}
	get := func(address string) string {
		t.Helper()
		resp, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	release := a.hold()
	resp, err := client.PostForm(a.base+"/a", url.Values{"q": {"Where are the highest mountains?"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	page := resp.Request.URL.String()
	if body := get(page); !regexp.MustCompile(`<noscript><meta http-equiv="refresh" content="\d+"></noscript>`).MatchString(body) {
		t.Error("the page does not reload itself")
	}
	release()
	for range 100 {
		if body := get(page); strings.Contains(body, "Mount Everest") && !strings.Contains(body, "refresh") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error(get(page))
}

// This test measures the compressed size of a page's first load and of an answer, excluding files that are loaded on
// demand.
func TestFirstLoadIsSmall(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	p := newTab(t, 1280, 900)
	a.ask(p, "Who was president of the United States, and when?")
	p.until(answered)
	for _, path := range []string{"/", eval[string](p, "location.pathname"), "/editor"} {
		p := newTab(t, 1280, 900) // with an empty cache
		p.open(a.base + path)
		p.until(`performance.getEntriesByType("navigation")[0].loadEventEnd > 0`)
		sum := `performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource")).reduce((n, e) => n + e.transferSize, 0)`
		size := eval[int](p, sum)
		t.Logf("%s: %d bytes, loaded after %d ms", path, size, eval[int](p, `Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)`))
		if size == 0 || size > 150_000 {
			t.Errorf("%s: %d bytes", path, size)
		}
	}
}

// A page on another site cannot ask questions, whether with a form, with a script, or through its own host name.
func TestOtherSitesCannotAsk(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action="%[1]s/a"><input name="q" value="Where are the highest mountains?"><button>x</button></form>
<script>fetch("%[1]s/editor/check", {method: "POST", body: "{}"}).then(r => r.text()).then(t => document.title = "read " + t, () => document.title = "refused")</script>`, a.base)
	}))
	defer other.Close()
	p := newTab(t, 800, 600)
	p.open(other.URL)
	p.until(`document.title === "refused"`)
	p.until(`document.querySelector("button").click() ?? true`)
	p.until(`location.origin === ` + quote(a.base) + ` && document.body.textContent.includes("another site")`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.base+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rebound.example"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under another name: %s", resp.Status)
	}
}

// The third-party web assets are exactly the ones that `make web-assets` writes.
func TestWebAssets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "build.mjs"} {
		b, err := os.ReadFile("../../tools/webassets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"npm", "ci", "--no-audit", "--no-fund"}, {"node", "build.mjs", out}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, b)
		}
	}
	const ours = "../web/ask/others"
	made, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(ours)
	if err != nil || len(kept) != len(made) {
		t.Errorf("%d files are kept, %d are made (%v)", len(kept), len(made), err)
	}
	for _, e := range made {
		want, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(ours, e.Name())); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what make web-assets writes (%v)", e.Name(), err)
		}
	}
}

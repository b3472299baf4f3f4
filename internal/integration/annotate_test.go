//go:build integration

package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset/datasettest"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox"
)

// annotation is a harvest folder and the page on which it is annotated. The page's address does not change when the
// program is restarted.
type annotation struct {
	t         *testing.T
	bin, dir  string
	addr      string
	program   *exec.Cmd
	shots     string   // folder for the screenshots
	questions []string // suggested questions, by candidate
}

func newAnnotation(t *testing.T) *annotation {
	t.Helper()
	g, err := sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
	if err != nil {
		t.Fatal(err)
	}
	a := &annotation{t: t, bin: binary(t), dir: filepath.Join(t.TempDir(), "harvest"), shots: os.Getenv("ANNOTATE_SHOTS")}
	if a.shots == "" {
		a.shots = t.TempDir()
	}
	cs, err := datasettest.Write(t.Context(), a.dir, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		a.questions = append(a.questions, c.Suggestion.Natural)
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.addr = l.Addr().String()
	l.Close()
	a.start()
	t.Cleanup(a.kill)
	return a
}

// start starts the program and waits for the address that it prints.
func (a *annotation) start() {
	a.t.Helper()
	a.program = exec.CommandContext(context.Background(), a.bin, "dataset", "annotate", "--kg", "embedded", "--addr",
		a.addr, a.dir)
	a.program.Stderr = os.Stderr
	a.program.Env = []string{"HOME=" + a.dir, "PATH=" + os.Getenv("PATH")}
	out, err := a.program.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.program.Start(); err != nil {
		a.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "http://"+a.addr+"/" {
		a.t.Fatalf("the program prints %q (%v)", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// kill sends SIGKILL to the program.
func (a *annotation) kill() {
	_ = a.program.Process.Kill()
	_ = a.program.Wait()
}

func (a *annotation) url(path string) string { return "http://" + a.addr + path }

// view checks a view's accessibility and saves a screenshot.
func (a *annotation) view(p *tab, name string) {
	a.t.Helper()
	p.accessible(name)
	p.shot(filepath.Join(a.shots, name+".png"))
}

// signIn enters a name on the first page, using the keyboard.
func (a *annotation) signIn(p *tab, name string) {
	p.open(a.url("/name"))
	p.until(`document.activeElement.name === "name"`)
	p.press("SelectAll")
	p.typeText(name)
	p.press("Enter")
	p.until(`document.querySelector(".annotate")?.dataset.page === "queue"`)
}

// on returns a JavaScript condition that is true once candidate n's page of the given kind is loaded and its script is
// ready.
func on(kind string, n int) string {
	return fmt.Sprintf(`document.querySelector(".annotate")?.dataset.page === %q && location.pathname.endsWith(%q) && document.querySelector("#remarks").childElementCount > 0`, kind, datasettest.ID(n))
}

func insert(p *tab) {
	p.press("2")
	p.until(`document.activeElement.id === "question" && document.activeElement.value.length > 20`)
	p.press("Escape")
}

// trim accepts the trimmed query and runs it.
func trim(p *tab) {
	p.press("t", "r")
	p.until(`document.querySelector("#result-note").textContent.includes("now")`)
}

func exclude(p *tab, reason string) {
	p.press("x")
	p.until(`document.querySelector("#exclude").open`)
	p.press(reason, "Enter")
}

// Ten candidates are annotated, validated and resolved using only the keyboard. The program is killed while text is
// being typed. The result passes `dataset verify`.
func TestAnnotateByKeyboard(t *testing.T) {
	t.Parallel()
	a := newAnnotation(t)
	p := newTab(t, 1280, 720)
	p.open(a.url("/name"))
	a.view(p, "name")
	a.signIn(p, "Ada")
	a.view(p, "queue")
	a.first(p)
	a.signIn(p, "Ben")
	a.second(p)
	a.resolve(p)
	a.release()
}

// first plays Ada's part.
func (a *annotation) first(p *tab) {
	p.press("j", "Enter")
	for n := 1; n <= 10; n++ {
		p.until(on("item", n))
		switch n {
		case 3:
			a.killWhileTyping(p)
			p.press("Escape", "i")
		case 4, 5:
			insert(p)
			trim(p)
			if n == 5 {
				a.view(p, "item")
				p.scheme("dark")
				p.shot(filepath.Join(a.shots, "item-dark.png"))
				p.scheme("light")
				a.itemViews(p)
				a.twoTabs(p)
			}
			p.press("m")
		case 7:
			exclude(p, "1")
		case 10:
			exclude(p, "7")
		default:
			insert(p)
			p.press("i")
		}
	}
	// All ten verdicts have been given, and the inbox is empty. The last verdict is withdrawn and given again.
	p.until(`document.querySelector(".annotate")?.dataset.page === "queue"`)
	p.press("u")
	p.until(on("item", 10))
	exclude(p, "7")
	p.until(`document.querySelector(".annotate")?.dataset.page === "queue"`)
}

// killWhileTyping kills the program twice: once while the page stays open, and once when the page is closed as well.
func (a *annotation) killWhileTyping(p *tab) {
	question := a.questions[2]
	third := len(question) / 3
	p.press("w")
	p.typeText(question[:third])
	p.until(`document.querySelector("#status").textContent.startsWith("saved")`)
	p.typeText(question[third : third+10])
	a.kill()
	p.typeText(question[third+10 : 2*third])
	p.until(`document.querySelector("#status").textContent.includes("kept in this browser")`)
	a.view(p, "server-away")
	a.start()
	p.until(`document.querySelector("#status").textContent.startsWith("saved")`)
	p.open(a.url("/item/" + datasettest.ID(3)))
	p.until(on("item", 3) + ` && document.querySelector("#question").value === ` + quote(question[:2*third]))

	a.kill()
	p.press("w")
	eval[any](p, `document.querySelector("#question").setSelectionRange(1e6, 1e6)`)
	p.typeText(question[2*third:])
	p.until(`localStorage.length > 0`)
	p.open("about:blank")
	a.start()
	p.open(a.url("/item/" + datasettest.ID(3)))
	p.until(on("item", 3) + ` && !document.querySelector("#banner").hidden`)
	a.view(p, "unsaved")
	p.press("Enter") // “Take it” has the focus
	p.until(`document.querySelector("#question").value === ` + quote(question) +
		` && document.querySelector("#status").textContent.startsWith("saved")`)
}

// twoTabs saves from another tab first. The page must report this, and the history must keep both versions.
func (a *annotation) twoTabs(p *tab) {
	question := a.questions[4]
	p.until(`document.querySelector("#status").textContent.startsWith("saved")`)
	other := eval[float64](p, `(async () => {
		const d = JSON.parse(document.querySelector("#data").textContent);
		const send = (version) => fetch("/api/save", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({candidate: d.candidate, version, query: document.querySelector("#query").value, question: "From another tab?"})});
		for (let v = 0; v < 20; v++) { const r = await send(v); if (r.ok) return v + 1; }
		return 0;
	})()`)
	if other == 0 {
		a.t.Fatal("the other tab could not save")
	}
	p.press("w")
	p.typeText(" ")
	p.until(`!document.querySelector("#banner").hidden && document.querySelector("#banner").textContent.includes("From another tab?")`)
	a.view(p, "conflict")
	p.press("Enter") // “Continue with mine” has the focus
	p.until(`document.querySelector("#status").textContent.startsWith("saved")`)
	if got := eval[string](p, `document.querySelector("#question").value`); strings.TrimSpace(got) != question {
		a.t.Errorf("after the conflict the question is %q", got)
	}
	eval[any](p, `document.activeElement.blur()`)
}

// itemViews checks the parts of a candidate's page that are shown on demand.
func (a *annotation) itemViews(p *tab) {
	for _, tab := range []string{"guide", "model", "trim"} {
		eval[any](p, `document.querySelector("#tab-`+tab+`").focus()`)
		eval[any](p, `document.querySelector("#tab-`+tab+`").click()`)
		a.view(p, "item-"+tab)
	}
	tip := eval[string](p, `(() => {
		const r = document.querySelector("#highlight [data-id=P2044]").getBoundingClientRect();
		document.dispatchEvent(new MouseEvent("mousemove", {clientX: r.x + 3, clientY: r.y + 3}));
		return document.querySelector("#tip").hidden ? "" : document.querySelector("#tip").textContent;
	})()`)
	if !strings.HasPrefix(tip, "P2044 · elevation above sea level") {
		a.t.Errorf("the tip over P2044 says %q", tip)
	}
	eval[any](p, `document.dispatchEvent(new MouseEvent("mousemove", {clientX: 1, clientY: 1}))`)
	eval[any](p, `document.activeElement.blur()`)
	p.press("?")
	p.until(`document.querySelector("#help").open`)
	a.view(p, "keys")
	p.press("Escape")
	p.press("x")
	p.until(`document.querySelector("#exclude").open`)
	a.view(p, "exclude")
	p.press("Escape")
	p.until(`!document.querySelector("#exclude").open`)
}

// second plays Ben's part. Ben disagrees with Ada on the first, fourth and ninth candidates.
func (a *annotation) second(p *tab) {
	p.press("2") // the box to validate
	p.until(`location.search.includes("validate")`)
	p.press("Enter")
	for n := 1; n <= 10; n++ {
		p.until(on("item", n))
		if n == 2 && eval[bool](p, `document.body.textContent.includes(`+quote(a.questions[1])+
			`) && document.querySelector("#question").value !== ""`) {
			a.t.Error("Ben sees Ada's question before his verdict")
		}
		switch n {
		case 1, 9:
			exclude(p, "4")
		case 4:
			insert(p)
			p.press("i")
		case 5:
			trim(p)
			p.press("m")
		case 7:
			exclude(p, "1")
		case 10:
			exclude(p, "7")
		default:
			p.press("i")
		}
		p.until(on("compare", n))
		switch n {
		case 1:
			a.view(p, "compare")
			p.scheme("dark")
			p.shot(filepath.Join(a.shots, "compare-dark.png"))
			p.scheme("light")
			p.press("j")
		case 4, 9:
			p.press("j")
		default:
			p.press("c")
		}
	}
	p.until(`document.querySelector(".annotate")?.dataset.page !== "compare" || location.pathname.endsWith(` + quote(datasettest.ID(1)) + `)`)
}

// resolve settles the three disputes: with Ada's version, with Ada's modified query rerun, and with Ben's version.
func (a *annotation) resolve(p *tab) {
	p.open(a.url("/"))
	p.press("6")
	p.until(`document.querySelectorAll("a.row-link").length === 3`)
	a.view(p, "disputed")
	p.press("v")
	p.until(`document.querySelector(".annotate")?.dataset.page === "agreement"`)
	// Ada includes 6, modifies 2 and excludes 2. Ben includes 5, modifies 1 and excludes 4. They agree on 7 of 10. By
	// chance, they would agree on (6*5 + 2*1 + 2*4)/100 = 0.40. So kappa is 0.30/0.60.
	if text := eval[string](p, `document.querySelector(".card .figures").textContent`); text != "10 in common70% observed agreement0.50 Cohen’s kappa" {
		a.t.Errorf("agreement: %s", text)
	}
	a.view(p, "agreement")
	p.press("Enter") // the first dispute
	p.until(on("compare", 1))
	p.press("a")
	p.until(`document.querySelector("#verdict").textContent === "include"`)
	p.press("c")
	p.until(on("compare", 4))
	p.press("a")
	p.until(`document.querySelector("#verdict").textContent === "modify"`)
	p.press("c")
	p.until(`document.querySelector("#toast").textContent.includes("Run the changed query first")`)
	p.press("r")
	p.until(`document.querySelector("#result-note").textContent.includes("12 rows")`)
	p.press("c")
	p.until(on("compare", 9))
	p.press("b")
	p.until(`document.querySelector("#verdict").textContent === "exclude"`)
	p.press("c")
	p.until(`document.querySelector(".annotate")?.dataset.page === "queue" && document.querySelectorAll("a.row-link").length === 0`)
	p.press("7")
	p.until(`document.querySelectorAll("a.row-link").length === 10`)
	a.view(p, "resolved")
	p.open(a.url("/history/" + datasettest.ID(4)))
	a.view(p, "history")
	p.open(a.url("/item/c-ffffffffffffffff"))
	a.view(p, "problem")
}

// release exports the result and verifies it.
func (a *annotation) release() {
	a.t.Helper()
	file := filepath.Join(a.dir, "bench.json")
	for _, args := range [][]string{{"export", "--out", file, a.dir}, {"verify", "--kg", "embedded", "--json", a.dir},
		{"verify", "--kg", "embedded", file}, {"split", "--dev", "3", a.dir}, {"card", a.dir}} {
		cmd := exec.CommandContext(context.Background(), a.bin, append([]string{"dataset"}, args...)...)
		cmd.Env = []string{"HOME=" + a.dir}
		out, err := cmd.CombinedOutput()
		if err != nil {
			a.t.Errorf("dataset %v: %v\n%s", args, err, out)
		}
		if args[0] == "verify" && args[len(args)-1] == a.dir && !strings.Contains(string(out),
			`{"summary":{"items":7,"status":{"same":7}}}`) {
			a.t.Errorf("verify: %s", out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		a.t.Fatal(err)
	}
	if strings.Contains(string(text), "hint:") || !strings.Contains(string(text), strings.ReplaceAll(a.questions[2], `"`,
		`\"`)) {
		a.t.Errorf("the export contains a trimmed hint, or lacks the typed question: %s", text)
	}
}

//go:build integration

package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// evalRun returns a command that runs the test's benchmark on the built-in slice with the test's scripted model.
func evalRun(bin, dir string) *exec.Cmd {
	data := filepath.Join("testdata", "evalrun")
	cmd := exec.CommandContext(context.Background(), bin, "eval", "run", "--env-file", os.DevNull, "--kg", "embedded",
		"--script", filepath.Join(data, "script.txt"),
		"--as-of", "2025-01-31T00:00:00Z", "--jobs", "2", "--out", dir, filepath.Join(data, "bench.jsonl"))
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// files counts the files in one of the run's folders.
func files(dir, sub string) int {
	list, err := os.ReadDir(filepath.Join(dir, sub))
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range list {
		if !strings.HasPrefix(f.Name(), ".") {
			n++
		}
	}
	return n
}

// A benchmark run that is killed ten times ends with the same results file as an uninterrupted run, byte for byte, and
// keeps every trajectory.
func TestEvalRunKilled(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	whole := t.TempDir()
	out, err := evalRun(bin, whole).CombinedOutput()
	if err != nil {
		t.Fatalf("the undisturbed run: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "results.jsonl"))
	if err != nil || bytes.Count(want, []byte("\n")) != 12 {
		t.Fatalf("the undisturbed run has %d results, want 12 (%v)\n%s", bytes.Count(want, []byte("\n")), err, out)
	}
	for kills := 0; kills < 10; {
		dir := t.TempDir()
		for {
			// Kills alternate between the start of a trajectory and the end of an item, so that the run is killed both during
			// and between items.
			watch := "trajectories"
			if kills%2 == 1 {
				watch = "items"
			}
			before := files(dir, watch)
			if !killWhen(t, evalRun(bin, dir), func() bool { return kills < 10 && files(dir, watch) > before }) {
				t.Logf("after %d kills the run ended", kills)
				break
			}
			kills++
		}
		got, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the results differ (%v):\n%s\nundisturbed:\n%s", err, got, want)
		}
		if n := files(dir, "trajectories"); n < 12 {
			t.Errorf("%d trajectories of 12 items", n)
		}
	}
}

// killWhen runs a command and kills it as soon as due returns true. dead is false if the command ends first; in that
// case, it must end without an error.
func killWhen(t *testing.T, cmd *exec.Cmd, due func() bool) (dead bool) {
	t.Helper()
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() }) // if it hangs, its exit status fails the test
	defer late.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil && !dead {
				t.Fatalf("the run failed: %v\n%s", err, &b)
			}
			return dead
		case <-tick.C:
			if !dead && due() {
				dead = true
				if err := cmd.Process.Kill(); err != nil {
					dead = false // the command has just ended
				}
			}
		}
	}
}

// Three processes share a run through PostgreSQL. One is killed in the middle of the run, and the others take over its
// items. At the end, every folder has the same results, byte for byte, as a single process that ran the items one by
// one.
func TestEvalRunWorkers(t *testing.T) {
	t.Parallel()
	bin, address := binary(t), database(t)
	command := func(dir string, more ...string) *exec.Cmd {
		cmd := evalRun(bin, dir)
		file := cmd.Args[len(cmd.Args)-1]
		cmd.Args = append(append(cmd.Args[:len(cmd.Args)-1], more...), file)
		cmd.Env = append(cmd.Env, "DATABASE_URL="+address)
		return cmd
	}
	results := func(dir string) []byte {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	alone := t.TempDir()
	if out, err := command(alone, "--jobs", "1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var dirs []string
	var outs [3]bytes.Buffer
	var cmds []*exec.Cmd
	for i := range outs {
		dir := filepath.Join(t.TempDir(), "run")
		cmd := command(dir, "--workers", "--jobs", "1")
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		dirs, cmds = append(dirs, dir), append(cmds, cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for files(dirs[0], "trajectories") == 0 && files(dirs[1], "items")+files(dirs[2], "items") < 10 {
		time.Sleep(time.Millisecond)
	}
	_ = cmds[0].Process.Kill()
	_ = cmds[0].Wait()
	for i := 1; i < 3; i++ {
		if err := cmds[i].Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, &outs[i])
		}
	}
	again := command(dirs[0], "--workers", "--jobs", "1")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	want := results(alone)
	for i, dir := range dirs {
		if got := results(dir); !bytes.Equal(got, want) {
			t.Errorf("folder %d:\n%s\nwant:\n%s", i, got, want)
		}
		if n := files(dir, "trajectories"); n < 12 {
			t.Errorf("folder %d has %d trajectories of 12 items", i, n)
		}
	}
}

// Two processes cannot share a folder.
func TestEvalRunLocked(t *testing.T) {
	t.Parallel()
	bin, dir := binary(t), t.TempDir()
	first := evalRun(bin, dir)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	}()
	deadline := time.Now().Add(time.Minute)
	for files(dir, "trajectories") == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the first run does not start")
		}
		time.Sleep(2 * time.Millisecond)
	}
	if out, err := evalRun(bin, dir).CombinedOutput(); err == nil || !strings.Contains(string(out),
		"another run is using") {
		t.Errorf("a second run in the same folder: %v\n%s", err, out)
	}
}

// The report is opened in a browser under its own content security policy, in light and dark mode. Its style is
// applied, no script runs, and a link leads to the trajectory of an item.
func TestEvalReport(t *testing.T) {
	t.Parallel()
	bin, dir := binary(t), t.TempDir()
	runs := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	for i, run := range runs {
		cmd := evalRun(bin, run)
		if i == 1 {
			cmd.Args = append(cmd.Args, "--limit", "11")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	// The second run gives a different answer, so the runs differ.
	results := filepath.Join(runs[1], "results.jsonl")
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte(`"result":[{"c":{"type":"uri","value":"http://www.wikidata.org/entity/Q3870"}}]`), []byte(`"result":[]`), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("no result to change in\n%s", text)
	}
	if err := os.WriteFile(results, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "report.html")
	if out, err := exec.CommandContext(context.Background(), bin, append([]string{"eval", "report", "--out", file},
		runs...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := newTab(t, 1280, 900)
	p.open("file://" + file)
	p.until(`document.querySelectorAll("details.item").length === 12 && document.querySelectorAll("details.item section.of:not(.absent)").length === 23`)
	if bg := eval[string](p, `getComputedStyle(document.querySelector("header")).position`); bg != "sticky" {
		t.Errorf("the page's own policy blocks its style: the header is %s", bg)
	}
	if n := eval[int](p, `document.querySelectorAll("script, img, link, iframe, [onclick], [style]").length`); n != 0 {
		t.Errorf("%d elements or attributes that the report must not have", n)
	}
	if wide := eval[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the window")
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#differences td a").click()`))
	p.until(`document.querySelectorAll("details.item[open]").length === 1 && document.querySelector("details.item[open] .steps li") !== null`)
	if q := eval[string](p, `document.querySelector("details.item[open] .q").textContent`); q != "Which city is the capital of Kenya?" {
		t.Errorf("the link leads to %q", q)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#items .f-wrong").click()`))
	if eval[bool](p, `[...document.querySelectorAll("#items details.item")].some(d => d.checkVisibility() && !d.classList.contains("wrong"))`) {
		t.Error("the filter shows items of another kind")
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#items .f-all").click()`))
	shown := `[...document.querySelectorAll("#items details.item")].filter(d => d.checkVisibility()).length`
	choose := func(label, value string) {
		t.Helper()
		p.until(`(() => { const s = [...document.querySelectorAll(".choice")].find(l => l.textContent.startsWith(` + quote(label) + `)).querySelector("select"); s.value = ` + quote(value) + `; return s.value === ` + quote(value) + `; })()`)
	}
	all := eval[int](p, shown)
	for _, label := range []string{"steps", "error class", "gold query feature"} {
		found := eval[[]string](p, `[...[...document.querySelectorAll(".choice")].find(l => l.textContent.startsWith(`+quote(label)+`))?.querySelectorAll("option") ?? []].map(o => o.textContent)`)
		if len(found) < 2 || found[0] != "all" {
			t.Errorf("%s: the choices are %q", label, found)
			continue
		}
		sum := 0
		for _, value := range found[1:] {
			choose(label, value)
			if n := eval[int](p, shown); n < 1 || n > all {
				t.Errorf("%s %s: %d of %d items", label, value, n, all)
			} else {
				sum += n
			}
		}
		if choose(label, "all"); eval[int](p, shown) != all || label == "steps" && sum < all {
			t.Errorf("%s: all shows %d of %d items, its values %d", label, eval[int](p, shown), all, sum)
		}
	}
	choose("measure", "grasp")
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#items .f-differ").click()`))
	if n := eval[int](p, shown); n < 1 || n >= all {
		t.Errorf("by another measure, the runs differ in %d of %d items", n, all)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#items .f-all").click()`))
	choose("measure", "spinach")
	p.accessible("the report")
}

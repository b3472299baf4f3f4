package bot_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are bugs planted in the bot, one at a time: bugs from earlier versions, and one bug for each way to lose or
// duplicate a reply. The simulation must find every one of them. Bugs whose effects another check prevents are omitted.
// For example, if the bot does not wait for a late save, the second save conflicts with it.
var mutants = []struct {
	name     string
	file     string
	old, new string
	finds    string
}{
	{"F1: an entry is found by the comment's ID, which depends on the others of that minute", "identity.go",
		`	if e := o.entry[p.comment]; e != nil || o.old[p.comment] {`,
		`	for _, e := range o.entry {
		if e.Comment == p.comment.ID {
			return e, nil
		}
	}
	if e := o.entry[p.comment]; e != nil || o.old[p.comment] {`, "lost"},
	{"F1: a comment that was on the page together with the entry's counts as its new words", "identity/identity.go",
		`	if c.Signed && inThread && !another {`, `	if c.Signed {`, "lost"},
	{"the same words in the same minute are the same post", "identity.go",
		`	return identity.Arrivals(counts) > known, nil`, `	return identity.Arrivals(counts) > known+100, nil`, "lost"},
	{"F4: hidden edits of our own are passed over", "trace.go",
		`		switch {
		case strings.Contains(edit.Summary`, `		if edit.Hidden {
			continue
		}
		switch {
		case strings.Contains(edit.Summary`, "doubled"},
	{"F4: hidden texts are not ours", "trace.go", `e.Save.mayBe(edit, b.grace(e.Save)):`, `false:`, "doubled"},
	{"own edits are not looked up", "trace.go", `	for _, edit := range edits {`, `	for _, edit := range edits[:0] {`,
		"doubled"},
	{"a save of unknown outcome counts as not saved", "publish.go", `	if serr := b.set(context.WithoutCancel(ctx), e, Posting,`,
		`	e.Save = nil
	if serr := b.set(context.WithoutCancel(ctx), e, Approved,`, "doubled"},
	{"the save is not noted before it is sent", "publish.go", `	if err := b.set(ctx, e, Posting, ""); err != nil {
		return false, err
	}`, `	e.State = Posting`, "doubled"},
	{"an interrupted save is never looked after", "publish.go", `	return b.each(ctx, Posting, func(`,
		`	return b.each(ctx, Posted, func(`, "still posting"},
	{"a judgment that fails closes the request", "solve.go",
		`		return b.set(ctx, e, Noticed, "judging failed, retried later: "+short(err))`,
		`		return b.set(ctx, e, Skipped, "")`, "lost"},
	{"a solver that fails closes the request", "solve.go",
		`			return b.set(ctx, e, Accepted, "failed, retried later: "+why)`,
		`			return b.set(ctx, e, GaveUp, "")`, "lost"},
	{"a clock that was set back makes requests wait for years", "bot.go", `wait <= 0 || wait > job.MaxWait`, `wait <= 0 || false && wait > job.MaxWait`, "still"},
	{"a clock that was set back makes a save wait for years", "publish.go",
		`now.Sub(began).Abs() < grace`, `now.Sub(began) < grace`, "still posting"},
	{"everybody else's text is written anew", "publish.go", `Text: text.after,`,
		`Text: strings.ReplaceAll(text.after, "cats", "Cats"),`, "changes what others wrote"},
}

// rare contains the bugs that only a few schedules find, each with a seed to start from.
var rare = map[string]string{"the same words in the same minute are the same post": "213000"}

// masked lists bugs whose effects are usually prevented by the history search before an entry's first save. They are
// planted in a bot without that search, so that only the mutated rule is tested.
var masked = map[string]bool{"a save of unknown outcome counts as not saved": true,
	"the save is not noted before it is sent": true}

func plant(t *testing.T, file, old, new string) []byte {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	if n := strings.Count(text, old); n != 1 {
		t.Fatalf("%s has these lines %d times; bring the mutant up to date:\n%s", file, n, old)
	}
	text = strings.Replace(text, old, new, 1)
	if strings.Contains(new, "strings.") && !strings.Contains(text, `"strings"`) {
		text = strings.Replace(text, "import (", "import (\n\t\"strings\"", 1)
	}
	return []byte(text)
}

// The simulation finds every planted bug. The test builds the bot once per bug; `make simulate` runs it.
func TestMutants(t *testing.T) {
	n := os.Getenv("SIMULATE_MUTANTS")
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			text := plant(t, m.file, m.old, m.new)
			if masked[m.name] {
				const search = "\tif e.Save == nil {\n\t\tif done"
				if bytes.Count(text, []byte(search)) != 1 {
					t.Fatalf("%s no longer searches the history before the first save", m.file)
				}
				text = bytes.Replace(text, []byte(search), []byte(strings.Replace(search, "e.Save == nil", "false", 1)), 1)
			}
			if n == "" {
				return
			}
			dir := t.TempDir()
			here, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			there := filepath.Join(dir, filepath.Base(m.file))
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: there}})
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{there: text, filepath.Join(dir, "overlay.json"): overlay} {
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("go", "test", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-timeout", "24h", "-run",
				"^TestSimulation$", ".")
			cmd.Env = append(os.Environ(), "SIMULATE="+n, "SIMULATE_MUTANTS=", "SIMULATE_FROM="+rare[m.name])
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "seed ") || !strings.Contains(string(out), m.finds) {
				t.Errorf("not found in %s schedules: %v\n%.2000s", n, err, out)
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "seed ") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

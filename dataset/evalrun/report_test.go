package evalrun

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// hostileRun returns a run in which every string tries to inject markup into the page.
func hostileRun(t *testing.T, name string) *RunData {
	t.Helper()
	items := bench("answer ROWS <script>alert(1)</script> | ROWS \"><img/src=x>",
		"no_answer </pre></details><script>alert(2)</script> | ROWS y", "answer ROWS z\u202ezz\u2066\x1b[31m | ROWS z",
		"answer ROWS w | ROWS")
	items[0].ID = `"><script>alert(3)</script>`
	items[1].ID = `\input{/etc/passwd} | **x** _y_ $5 100%`
	return runOf(t, name, func(w *world) { w.asker.flaky[items[2].ID] = 99 }, items)
}

// Whatever strings a run contains, the page has no scripts or external URLs, and it shows every item with its
// trajectory.
func TestReportPage(t *testing.T) {
	t.Parallel()
	runs := []*RunData{hostileRun(t, "first"), hostileRun(t, "<i>second</i>")}
	r, err := NewReport(t.Context(), runs, "exact", nil, pcg())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if n := doc.Find("script, img, iframe, object, embed, link, base, i").Length(); n != 0 {
		t.Errorf("%d elements that a report must not contain", n)
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Get(0).Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" ||
				(a.Key == "href" && !strings.HasPrefix(a.Val, "#")) {
				t.Errorf("<%s %s=%q>", s.Get(0).Data, a.Key, a.Val)
			}
		}
	})
	policy, _ := doc.Find(`meta[http-equiv="Content-Security-Policy"]`).Attr("content")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy: %s", policy)
	}
	style := doc.Find("style").Text()
	if sum := sha256.Sum256([]byte(style)); !strings.HasPrefix(style, pageStyle) || !strings.Contains(policy,
		"'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") || strings.Contains(style, "url(") ||
		strings.Contains(style, "@import") {
		t.Error("the style is not the one whose hash the policy names, or it loads something")
	}
	if n, runs := doc.Find("details.item").Length(), doc.Find("details.item section.of").Length(); n != 4 || runs != 8 {
		t.Errorf("%d items with %d runs, want 4 with 8", n, runs)
	}
	for _, state := range []string{"failed", "wrong", "unanswered", "unscored"} {
		if doc.Find("details.item."+state).Length() != 1 || doc.Find("summary .badge."+state).Length() != 2 {
			t.Errorf("the state %s is not in the list", state)
		}
	}
	if got := doc.Find("details.item.wrong ol.steps li").Length(); got != 4 {
		t.Errorf("%d steps of the two wrong items, want 4", got)
	}
	if strings.ContainsAny(b.String(), "\u202e\u2066\x1b") {
		t.Error("a text can reverse the page")
	}
	if text := doc.Find("details.item.wrong").First().Text(); !strings.Contains(text, "<script>alert(1)</script>") {
		t.Error("a question is shown with changes")
	}
	if text := doc.Text(); !strings.Contains(text, "1 session") || strings.Contains(text, "1 sessions") ||
		strings.Contains(text, "1 rows") {
		t.Error("one session or row is counted as several")
	}
	doc.Find("a[href]").Each(func(_ int, s *goquery.Selection) {
		if to, _ := s.Attr("href"); doc.Find(`[id="`+to[1:]+`"]`).Length() != 1 {
			t.Errorf("a link has no target: %s", to)
		}
	})
	// The plots are well-formed XML.
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(b.String(), -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("a plot is not well-formed: %v\n%s", err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("a plot contains something that is not a number:\n%s", svg)
		}
	}
}

// The strings cannot break the LaTeX or the Markdown either.
func TestReportTables(t *testing.T) {
	t.Parallel()
	r, err := NewReport(t.Context(), []*RunData{hostileRun(t, "a_run"), hostileRun(t, "b|run")}, "exact", nil, pcg())
	if err != nil {
		t.Fatal(err)
	}
	var tex, md bytes.Buffer
	r.WriteLaTeX(&tex)
	r.WriteMarkdown(&md)
	if strings.Contains(tex.String(), `\input{`) {
		t.Error("a text reached LaTeX as a command")
	}
	for _, want := range []string{`\toprule`, `a\_run`, `b\textbar{}run`} {
		if !strings.Contains(tex.String(), want) {
			t.Errorf("LaTeX lacks %q", want)
		}
	}
	if n := strings.Count(tex.String(), `\begin{table}`); n != strings.Count(tex.String(), `\end{table}`) || n < 6 {
		t.Errorf("%d tables", n)
	}
	if !strings.Contains(md.String(), `b\|run`) || strings.Contains(md.String(), "<script>") {
		t.Errorf("Markdown:\n%s", &md)
	}
}

// The best and second-best runs are marked, even in a tie.
func TestRanked(t *testing.T) {
	col := func(v ...float64) (out []number) {
		for _, x := range v {
			out = append(out, number{x, "x"})
		}
		return out
	}
	ranks := func(cells []Cell) (out []int) {
		for _, c := range cells {
			out = append(out, c.Rank)
		}
		return out
	}
	for _, c := range []struct {
		in   []number
		high bool
		want string
	}{
		{col(1, 3, 2), true, "[0,1,2]"}, {col(1, 3, 2), false, "[1,0,2]"}, {col(3, 3, 2, 1), true, "[1,1,2,0]"},
		{col(5), true, "[0]"}, {col(5, 5), true, "[0,0]"},
		{col(1, 2), true, "[0,1]"}, {col(math.NaN(), 2, 1), true, "[0,1,2]"}, {nil, true, "null"},
	} {
		if got := asJSON(t, ranks(ranked(c.in, c.high))); got != c.want {
			t.Errorf("%v: %s, want %s", c.in, got, c.want)
		}
	}
	tab := Table{Title: "T", Head: []string{"a", "b"}, Rows: [][]Cell{{{Text: "x\x1b[31m"}, {Text: "1", Rank: 1}},
		{{Text: "y"}, {Text: "2", Rank: 2}}}}
	var text, md, tex bytes.Buffer
	tab.Text(&text)
	tab.Markdown(&md)
	tab.LaTeX(&tex)
	if strings.Contains(text.String(), "\x1b") || !strings.Contains(text.String(), "1*") ||
		!strings.Contains(text.String(), "2+") {
		t.Errorf("text:\n%s", &text)
	}
	if !strings.Contains(md.String(), "**1**") || !strings.Contains(md.String(), "<u>2</u>") ||
		!strings.Contains(tex.String(), `\textbf{1}`) || !strings.Contains(tex.String(), `\underline{2}`) {
		t.Errorf("%s\n%s", &md, &tex)
	}
}

// The bins are the paper's: those in table 5, and ten equal-width bins for tables 10 and 11.
func TestBins(t *testing.T) {
	for n, want := range map[int]string{0: "0–2", 2: "0–2", 3: "3–5", 5: "3–5", 8: "6–8", 14: "12–14", 15: "15+",
		40: "15+"} {
		if got := stepBin(n); got != want {
			t.Errorf("%d steps: %s, want %s", n, got, want)
		}
	}
	r := &RunData{}
	for _, tokens := range []int{0, 10, 11, 100} {
		it := ItemData{Scores: []Score{{Metric: "exact", F1: 0.5, EM: 0}}}
		it.Meta.Usage.InputTokens = tokens
		r.Items = append(r.Items, it)
	}
	bins := r.ByValue("exact", func(it *ItemData) float64 { return float64(it.Meta.Usage.InputTokens) },
		func(v float64) string { return asJSON(t, v) })
	if len(bins) != 10 || bins[0].N != 1 || bins[1].N != 2 || bins[9].N != 1 || bins[9].Label != "90–100" ||
		bins[1].Share != 0.5 {
		t.Errorf("%+v", bins)
	}
	if (&RunData{Items: r.Items[:1]}).ByValue("exact", func(*ItemData) float64 { return 1 }, nil) != nil {
		t.Error("a single value has a distribution")
	}
}

// TestShowEvents checks that unreadable turns and a judge's feedback are shown in their own boxes.
func TestShowEvents(t *testing.T) {
	model := func(id, parent int, said string) agent.Event {
		return agent.Event{Event: "model", ID: id, Parent: parent, Request: &llm.Request{Purpose: "act",
			Messages: []llm.Message{{Role: llm.Assistant}, {Role: llm.User, Content: "No action."}}},
			Response: &llm.Response{Choices: []llm.Choice{{Content: said}}}}
	}
	got := ShowEvents([]agent.Event{model(1, 0, "Hm."), model(2, 1, "Action: look(x)"),
		{Event: "step", ID: 3, Parent: 2, Step: &agent.Step{N: 1, Action: "look", Argument: "x"}},
		{Event: "feedback", ID: 4, Parent: 3, Reason: "refine", Detail: "Two are missing."}})
	want := []ShownEvent{{ID: 2, Refused: "could not be read", Call: "Hm.", Observation: "No action."},
		{ID: 3, N: 1, Tool: "look", Call: "look(x)"}, {ID: 4, Refused: "feedback: refine", Thought: "Two are missing."}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestShowEndsAndCalls checks that the probes' message to the model is shown next to the ending that the probes delayed
// (otherwise, a second ending would look like a repetition), and that each argument of a native call is on a separate
// line.
func TestShowEndsAndCalls(t *testing.T) {
	end := &agent.Step{N: 1, Action: "finish", Argument: `{"answer":"Two.\nNo more.","columns":["x"]}`}
	got := ShowEvents([]agent.Event{{Event: "probe", ID: 1, Detail: "Not published yet."}, {Event: "step", ID: 2, Parent: 1, Step: end},
		{Event: "step", ID: 3, Parent: 2, Step: end}})
	call := "finish\nanswer: Two.\nNo more.\ncolumns: [\"x\"]"
	want := []ShownEvent{{ID: 2, N: 1, Tool: "finish", Call: call, Observation: "Not published yet."},
		{ID: 3, N: 1, Tool: "finish", Call: call}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBundle checks that a report written as files has a page per item, with links to and from the index, and that all
// strings remain plain text.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, dir, bench("answer ROWS a | ROWS a", "no_answer <script>x</script> | ROWS b"))
	w.run(t)
	run, err := Load(t.Context(), dir, equalRows)
	if err != nil {
		t.Fatal(err)
	}
	report, err := NewReport(t.Context(), []*RunData{run}, "exact", nil, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	files, err := report.Bundle()
	if err != nil || len(files) != 3 || files[2].Name != "index.html" {
		t.Fatalf("%d files, %v", len(files), err)
	}
	index := string(files[2].Content)
	for _, f := range files[:2] {
		page := string(f.Content)
		if !strings.Contains(index, `href="`+f.Name+`"`) || !strings.Contains(page, "../index.html#items") ||
			!strings.Contains(page, "<h3>Gold</h3>") || strings.Contains(page+index, "<script>") {
			t.Errorf("%s:\n%s", f.Name, page)
		}
	}
	if strings.Contains(index, "<h3>Gold</h3>") || !strings.Contains(string(files[0].Content), "no_answer") {
		t.Error("the index contains the content of the pages, or the wrong item is not first")
	}
}

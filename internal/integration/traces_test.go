//go:build integration

package integration

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// TestTracePages checks that if TRACE_PAGE is set, the steps behind a reply are on a separate page, which is created
// once and linked from the reply. The test runs on a MediaWiki with notifications and on an older MediaWiki.
func TestTracePages(t *testing.T) {
	t.Parallel()
	for name, wiki := range map[string]*realWiki{"1.43": startNewerWiki(t), "1.39": startWiki(t)} {
		t.Run(name, func(t *testing.T) { tracesOn(t, wiki) })
	}
}

func tracesOn(t *testing.T, wiki *realWiki) {
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.t = t
	const parent = "User:SpinachBot/traces"
	admin := wiki.user("Admin")
	w.set("TRACE_PAGE", parent)
	w.first()
	w.alice.ask(w.page, "Where it sits", capital)
	w.hooks.reset(nil, nil)

	// If the parent page is missing, the reply is posted anyway, and the program reports what is missing.
	out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s")
	if err == nil || !strings.Contains(out, "there is no page "+parent) {
		t.Errorf("without a page: %v\n%s", err, out)
	}
	reply := section(w.alice.text(w.page), "Where it sits")
	m := regexp.MustCompile(`\[\[:(User:SpinachBot/traces/sb-[0-9a-f]{16})\|All steps in detail\]\]`).FindStringSubmatch(reply)
	if replies(reply) != 1 || m == nil {
		t.Fatalf("the reply:\n%s", reply)
	}
	page := m[1]
	state := func(want string) {
		t.Helper()
		out, err := w.bot(nil, "ledger", "traces")
		if err != nil || !regexp.MustCompile(`(?m)^`+want+` .*`+regexp.QuoteMeta(page)).MatchString(out) {
			t.Errorf("ledger traces: %v, want %s\n%s", err, want, out)
		}
	}
	state("waits")
	admin.edit(url.Values{"title": {parent}, "text": {"The steps.\n\n{{Special:PrefixIndex/" + parent + "/}}"}})

	// The response to the edit that creates the page is lost. The next round finds that the page exists.
	lost := 0
	w.hooks.change = func(c call, answer *recorder) {
		if isEdit(c) && strings.Contains(c.body, "createonly") {
			lost++
			answer.code, answer.body = 502, []byte("lost")
		}
	}
	if out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s"); err == nil {
		t.Errorf("the lost answer is not reported:\n%s", out)
	}
	w.hooks.change = nil
	state("waits")
	for range 2 {
		w.round()
	}
	state("there")
	revisions := func() int {
		out := w.alice.call(url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"ids|user"}, "rvlimit": {"50"}, "titles": {page}})
		pages, _ := dig(out, "query", "pages").([]any)
		revs, _ := dig(pages[0], "revisions").([]any)
		return len(revs)
	}
	if n := revisions(); n != 1 || lost != 1 {
		t.Errorf("%d revisions after %d lost answers", n, lost)
	}

	// The page shows the steps, links only to the reply and is in no category.
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(wiki.html(page)))
	if err != nil {
		t.Fatal(err)
	}
	if text := doc.Find("body").Text(); !strings.Contains(text, "Step 1") || !strings.Contains(text, capital) {
		t.Errorf("the page says %s", text)
	}
	doc.Find("a").Each(func(_ int, a *goquery.Selection) {
		if href, _ := a.Attr("href"); !strings.Contains(href, "Special:Diff/") {
			t.Errorf("a link to %s", href)
		}
	})
	if n := doc.Find(`link[rel~="mw:PageProp/Category"], [typeof~="mw:Transclusion"]`).Length(); n != 0 {
		t.Errorf("%d categories and templates", n)
	}
	if dir := os.Getenv("REPLY_SHOTS"); dir != "" {
		for _, skin := range []string{"vector", "minerva"} {
			p := newTab(t, 390, 844)
			p.open(wiki.vars["REALWIKI_URL"] + "/index.php?title=" + url.QueryEscape(page) + "&useskin=" + skin)
			p.until("document.querySelectorAll('pre').length > 0")
			if wide := eval[float64](p, `Math.max(...[...document.querySelectorAll("pre")].map(t => t.offsetWidth))`); wide > 390 {
				t.Errorf("%s: a block is %.0f pixels wide", skin, wide)
			}
			p.shot(filepath.Join(dir, "trace-"+strings.ReplaceAll(t.Name(), "/", "-")+"-"+skin+".png"))
		}
	}

	// When the page's retention period ends, the steps are removed. The page's history remains until an administrator
	// deletes it.
	time.Sleep(time.Second)
	w.set("KEEP_TRAJECTORIES", "0d")
	for range 2 {
		w.round()
	}
	if text := w.alice.text(page); revisions() != 2 || strings.Contains(text, "Step 1") || !strings.Contains(text, "kept until") {
		t.Errorf("%d revisions:\n%s", revisions(), text)
	}
	state("empty")

	// A page is not re-created if it was deleted before the bot learned that it had been created.
	w.set("KEEP_TRAJECTORIES", "30d")
	w.alice.ask(w.page, "Second", landlocked)
	w.hooks.change = func(c call, answer *recorder) {
		if isEdit(c) && strings.Contains(c.body, "createonly") {
			answer.code, answer.body = 502, []byte("lost")
		}
	}
	_, _ = w.bot(nil, "run", "--once", "--unknown-grace", "1s") // fails because the response was lost
	w.hooks.change = nil
	m = regexp.MustCompile(`\[\[:(User:SpinachBot/traces/sb-[0-9a-f]{16})\|`).FindStringSubmatch(section(w.alice.text(w.page), "Second"))
	if m == nil {
		t.Fatal("no reply to the second request")
	}
	page = m[1]
	if revisions() != 1 {
		t.Fatalf("%s was not made", page)
	}
	time.Sleep(1100 * time.Millisecond) // the wiki's clock has a resolution of one second
	admin.act(url.Values{"action": {"delete"}, "title": {page}, "reason": {"test"}})
	for range 6 {
		_, _ = w.bot(nil, "run", "--once", "--unknown-grace", "1s")
	}
	if text := w.alice.text(page); text != "" {
		t.Errorf("a deleted page exists again:\n%s", text)
	}
	state("not")
}

package harvest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

const people = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 }"

// planted adds archive pages with one discussion per possible outcome.
func planted(w *world) {
	link := func(q string) string { return "[" + strings.ReplaceAll(sparql.URL(q), "_", "%5F") + " here]" }
	w.links.to["https://w.wiki/abc"] = sparql.URL("SELECT ?film WHERE { ?film wdt:P57 wd:Q2 }")
	w.links.to["https://w.wiki/evil"] = "https://example.org/?query=SELECT"
	w.links.to["https://w.wiki/page"] = "https://query.wikidata.org/"
	w.wiki.put("2019/06", "Old requests.\n\n"+
		thread("Plain", "Who are the people?", posted(people), "Thank you!")+
		thread("Nothing", "Is anybody here?", "No.")+
		thread("Two", "Films?", posted("SELECT ?x { ?x wdt:P57 wd:Q1 }"), "better:",
			link("SELECT ?film WHERE { ?film wdt:P31 wd:Q11424 }"))+
		thread("Ours last", "People, please", posted(people+" LIMIT 2"), "SpinachBot@@"+posted(people+" LIMIT 3"))+
		thread("Only ours", "People, quick", "SpinachBot@@"+posted(people))+
		thread("Short", "Films of Two", "see https://w.wiki/abc there"))
	w.wiki.put("2019/07",
		thread("Bad short", "Films of Three", "see https://w.wiki/evil there")+
			thread("Bad short after a query", "Films of Four", posted(people+" LIMIT 1"), "or https://w.wiki/none",
				"or https://w.wiki/page")+
			thread("Broken", "Help", posted("SELECT ?x WHERE { ?x wdt:P31 }"))+
			thread("Update", "Help", "<syntaxhighlight lang=\"sparql\">INSERT DATA { wd:Q1 wdt:P31 wd:Q5 }</syntaxhighlight>")+
			thread("Foreign", "Help", posted("SELECT ?x WHERE { SERVICE <https://evil.example/sparql> { ?x ?y ?z } }"))+
			thread("Search", "Help", posted("SELECT ?x WHERE { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api \"Search\" . ?x wikibase:apiOutputItem mwapi:title . } ?x wdt:P57 wd:Q1 }"))+
			thread("Empty", "Help", posted("SELECT ?x WHERE { ?x wdt:P31 wd:Q99 }"))+
			thread("Papers", "Help", posted("SELECT ?x WHERE { ?x wdt:P2860 wd:Q99 }"))+
			thread("Slow", "Help", posted("#timeout\n"+people))+
			thread("Large", "Help", posted("#large\n"+people))+
			thread("Greedy", "Help", posted("#greedy\n"+people))+
			thread("Poison", "Help", posted("#poison\n"+people))+
			thread("Not mine", "Help", posted("#refuse\n"+people)))
	w.wiki.put("2020/01", thread("Plain", "Who are the people again?",
		posted("SELECT ?human WHERE { ?human wdt:P31 wd:Q5 . }"))+
		thread("Labels", "Label them", posted("SELECT ?x ?xLabel WHERE { ?x wdt:P57 wd:Q1 . SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],en\". } }")))
	w.wiki.text[testPrefix+"2019/06/fr"] = thread("Sous-page", "Oui", posted(people)) // not an archive page
	w.wiki.text["Wikidata:Request a query/Archive/Index"] = "x"
}

func TestEveryWay(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.opts.Benchmarks = []Benchmark{{Name: "spinach.json",
		Items: []dataset.Item{{ID: "17", SPARQL: "SELECT ?film { ?film wdt:P57 wd:Q2. }"},
			{ID: "18", SPARQL: "broken"}}}}
	f := w.mustRun()
	want := map[string]string{
		"Plain": people, "Two": "SELECT ?film WHERE { ?film wdt:P31 wd:Q11424 }", "Ours last": people + " LIMIT 2",
		"Short":                   "SELECT ?film WHERE { ?film wdt:P57 wd:Q2 }",
		"Bad short after a query": people + " LIMIT 1", "Search": "", "Labels": "",
	}
	for heading, original := range want {
		c := w.find(heading)
		if c.Stage != dataset.Staged || original != "" && c.Original != original {
			t.Errorf("%s: stage %s (%s %s), query %q, want %q", heading, c.Stage, c.Reason, c.Detail,
				c.Original, original)
		}
	}
	reasons := map[string]dataset.Reason{
		"Nothing": dataset.NoQuery, "Only ours": dataset.BotOnly, "Bad short": dataset.BadShortLink,
		"Broken": dataset.SyntaxError, "Update": dataset.Update, "Foreign": dataset.RefusedHost,
		"Empty": dataset.Empty, "Papers": dataset.Scholarly, "Slow": dataset.Timeout, "Large": dataset.TooLarge,
		"Greedy": dataset.Failed, "Poison": dataset.EndpointDown,
		"Not mine": dataset.SyntaxError,
	}
	for heading, reason := range reasons {
		if c := w.find(heading); c.Stage != dataset.Rejected || c.Reason != reason {
			t.Errorf("%s: %s %s (%s), want %s", heading, c.Stage, c.Reason, c.Detail, reason)
		}
	}
	total := f.Total
	total.Rejected = nil
	if want := (dataset.Counts{Discussions: 21, WithQuery: 18, Valid: 15, Run: 11,
		Staged: 8}); fmt.Sprint(total) != fmt.Sprint(want) {
		t.Errorf("funnel %+v, want %+v", total, want)
	}
	if len(f.Years) != 2 || f.Years[0].Year != 2019 || f.Years[0].Discussions != 19 || f.Years[1].Staged != 2 ||
		f.Pages.Read != 3 {
		t.Errorf("years %+v, pages %+v", f.Years, f.Pages)
	}
	if f.Total.Rejected[dataset.SyntaxError] != 2 {
		t.Errorf("rejected %v", f.Total.Rejected)
	}
	w.details()
}

func (w *world) details() {
	t := w.t
	c := w.find("Plain")
	if p := c.Provenance; p.Permalink != "https://www.wikidata.org/w/index.php?oldid=10#Plain" ||
		p.URL != "https://www.wikidata.org/wiki/Wikidata:Request_a_query/Archive/2019/06" ||
		p.Month != "2019-06" || p.Section != 1 || p.License != dataset.License {
		t.Errorf("provenance %+v", p)
	}
	if v := c.Conversation; v.Requester != "Ann" || v.Responses != 2 || !v.Thanked || len(v.Comments) != 3 ||
		v.Asked.Format("2006-01-02T15:04") != "2019-06-03T10:00" {
		t.Errorf("conversation %+v", v)
	}
	if r := c.Result; r.Rows != 5 || r.Endpoint != "https://main.example/sparql" || r.Bytes < 100 ||
		len(r.Hash) != 32 || r.MS != 7 || !strings.Contains(string(r.Sample), "http://www.wikidata.org/entity/Q6") {
		t.Errorf("result %+v", r)
	}
	if !strings.Contains(c.Annotated, "[label of P31]") || c.Labels["Q5"] != "label of Q5" ||
		!slices.Equal(c.Entities, []string{"Q5"}) || !slices.Equal(c.Properties, []string{"P31"}) {
		t.Errorf("annotated %s, labels %v, %v, %v", c.Annotated, c.Labels, c.Entities, c.Properties)
	}
	var twin dataset.Candidate
	for _, x := range w.read(dataset.CandidatesFile) {
		if x.Provenance.Month == "2020-01" && x.Provenance.Heading == "Plain" {
			twin = x
		}
	}
	if len(twin.Near) == 0 || twin.Near[0].ID != c.ID || twin.Near[0].Similarity != 1 ||
		twin.Near[0].Why != "same pattern and numbers" || twin.Result.Hash != c.Result.Hash {
		t.Errorf("near %+v, hashes %s and %s", twin.Near, twin.Result.Hash, c.Result.Hash)
	}
	body, err := dataset.ReadResult(w.dir, c.ID, MaxBytes)
	var table kg.Table
	if err == nil {
		err = table.UnmarshalJSON(body)
	}
	if err != nil || len(table.Rows) != 5 || HashRows(&table) != c.Result.Hash {
		t.Errorf("all rows: %d, %v", len(table.Rows), err)
	}
	if n := w.find("Short").Near; len(n) == 0 || n[0] != (dataset.Near{ID: "17", Source: "spinach.json", Similarity: 1,
		Why: "same pattern and numbers"}) {
		t.Errorf("near %+v", n)
	}
	if s := w.find("Search"); !strings.Contains(strings.Join(s.Notes, "\n"), "mwapi") ||
		strings.Contains(s.Cleaned, "mwapi") {
		t.Errorf("cleaned %s, notes %q", s.Cleaned, s.Notes)
	}
	if l := w.find("Labels"); strings.Contains(l.Cleaned, "AUTO_LANGUAGE") ||
		!strings.Contains(l.Original, "AUTO_LANGUAGE") || l.Result.Rows != 2 {
		t.Errorf("cleaned %s", l.Cleaned)
	}
	if n := strings.Join(w.find("Plain").Notes, "\n"); !strings.Contains(n, "read from the wikitext only: it is down") {
		t.Errorf("notes %s", n)
	}
}

// A second harvest reads no pages, reruns only queries that failed because of the endpoint, and changes nothing.
func TestAgain(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.mustRun()
	before := w.files()
	w.wiki.reads, w.graph.runs, w.links.asked = nil, nil, nil
	w.mustRun()
	if len(w.wiki.reads) > 0 || len(w.links.asked) > 0 || len(w.graph.runs) != 1 ||
		!strings.Contains(w.graph.runs[0], "#poison") {
		t.Errorf("read %q, resolved %q, ran %q", w.wiki.reads, w.links.asked, w.graph.runs)
	}
	if after := w.files(); !maps.Equal(before, after) {
		t.Error("the files changed")
	}
	w.opts.Retry = true
	delete(w.graph.faults, "timeout")
	if w.mustRun(); w.find("Slow").Stage != dataset.Staged {
		t.Error("the query that timed out was not run again")
	}
}

// No matter where a harvest is cut off, the next harvest produces the same files. A sample has every third call.
func TestCrashes(t *testing.T) {
	whole := newWorld(t)
	planted(whole)
	counter := &fuse{}
	whole.fuseAll(counter)
	whole.mustRun()
	want := whole.files()
	if counter.calls < 100 {
		t.Errorf("only %d calls to crash at", counter.calls)
	}
	for k := 1; k <= counter.calls; k += corpus.Pick(3, 1) {
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			planted(w)
			w.fuseAll(&fuse{at: k})
			if _, err := w.run(); err == nil {
				t.Error("the crash was not noticed")
			}
			w.fuseAll(nil)
			w.mustRun()
			got := w.files()
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("%s differs:\n%.1500s\nwant\n%.1500s", name, got[name], want[name])
				}
			}
			if len(got) != len(want) {
				t.Errorf("files %q", slices.Collect(maps.Keys(got)))
			}
		})
	}
}

func TestEdits(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.mustRun()
	id, other := w.find("Two").ID, w.find("Nothing").ID
	secret := "SELECT ?film WHERE { ?film wdt:P31 wd:Q11424 }"
	// A heading is changed, a reply is added, a discussion is removed, and a new one is added.
	text := strings.Replace(w.wiki.text[testPrefix+"2019/06"], "== Plain ==", "== Plain and simple ==", 1)
	start := strings.Index(text, "== Two ==")
	end := strings.Index(text, "== Ours last ==")
	w.wiki.put("2019/06", text[:start]+text[end:]+thread("New", "One more", posted(people)))
	plain := w.find("Plain").ID
	w.wiki.reads = nil
	f := w.mustRun()
	if !slices.Equal(w.wiki.reads, []string{testPrefix + "2019/06"}) {
		t.Errorf("read %q", w.wiki.reads)
	}
	if c := w.find("Plain and simple"); c.ID != plain || c.Provenance.Revision != 20 {
		t.Errorf("id %s, want %s; revision %d", c.ID, plain, c.Provenance.Revision)
	}
	if c := w.find("Nothing"); c.ID != other {
		t.Errorf("id %s, want %s", c.ID, other)
	}
	if f.Total.Gone != 1 || f.Years[0].Gone != 1 {
		t.Errorf("gone %+v", f.Total)
	}
	for name, body := range w.files() {
		if strings.Contains(name, id) || strings.Contains(body, secret) || strings.Contains(body, "Films?") {
			t.Errorf("%s still contains the removed text", name)
		}
	}
	for key, note := range w.store.notes {
		if strings.Contains(key, id) || strings.Contains(string(note), "?film wdt:P31") {
			t.Errorf("the store still contains %s %s", key, note)
		}
	}
	// The whole page is removed and later restored.
	title := testPrefix + "2019/06"
	back := w.wiki.text[title]
	delete(w.wiki.text, title)
	if f = w.mustRun(); f.Pages.Gone != 1 || f.Years[0].Discussions != 13 || f.Total.Gone != 7 {
		t.Errorf("a deleted page: %+v", f)
	}
	w.wiki.text[title] = back
	if f = w.mustRun(); f.Pages.Gone != 0 || f.Years[0].Discussions != 19 || f.Total.Gone != 1 {
		t.Errorf("a restored page: %+v", f)
	}
}

func TestEndpointDown(t *testing.T) {
	for _, how := range []string{"down", "banned"} {
		w := newWorld(t)
		planted(w)
		if how == "down" {
			w.graph.down = true
		} else {
			w.graph.faults["banned"] = kg.Errorf(kg.Banned, "banned until tomorrow")
			w.wiki.text[testPrefix+"2019/06"] = thread("Ban", "x", posted("#banned\n"+people)) +
				w.wiki.text[testPrefix+"2019/06"]
		}
		f, err := w.run()
		if !errors.Is(err, ErrEndpointDown) || !strings.Contains(err.Error(), "run harvest again") {
			t.Fatalf("%s: %v", how, err)
		}
		if f.Total.Staged != 0 || f.Total.Pending < 15 || f.Pages.Read != 3 || len(w.graph.runs) != 1 {
			t.Errorf("%s: %+v after %d runs", how, f, len(w.graph.runs))
		}
		w.graph.down = false
		delete(w.graph.faults, "banned")
		if f := w.mustRun(); f.Total.Staged < 8 || f.Total.Pending != 0 {
			t.Errorf("%s: the next one: %+v", how, f)
		}
	}
}

// A second endpoint is used if the first is down, times out, or lacks the scholarly half of the data, and the notes
// mention it.
func TestSecondEndpoint(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.wiki.put("2021/01", thread("Paper", "Papers?",
		posted("SELECT ?x WHERE { ?x wdt:P57 wd:Q1 OPTIONAL { ?x wdt:P2860 ?y } SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }"))+
		thread("Search again", "Graph", posted("#timeout\nSELECT ?x WHERE { SERVICE gas:service { gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.SSSP' ; gas:in wd:Q1 ; gas:out ?x } }")))
	second := &fakeGraph{g: w.graph.g}
	w.parts.Endpoints = append(w.parts.Endpoints, Endpoint{Name: "https://second.example/api", Graph: second,
		Dialect: rewrite.QLever, Full: true})
	w.mustRun()
	c := w.find("Slow")
	if c.Stage != dataset.Staged || c.Result.Endpoint != "https://second.example/api" ||
		!strings.Contains(c.Result.Rewritten, "PREFIX wdt:") ||
		!strings.Contains(strings.Join(c.Notes, " "), "second endpoint") {
		t.Errorf("%s %s %+v %q", c.Stage, c.Reason, c.Result, c.Notes)
	}
	if c := w.find("Papers"); c.Reason != dataset.Scholarly || !strings.Contains(c.Detail, "second.example") {
		t.Errorf("%s %s %s", c.Stage, c.Reason, c.Detail)
	}
	if c := w.find("Paper"); c.Stage != dataset.Staged ||
		!strings.Contains(strings.Join(c.Notes, " "), "rows may be missing") {
		t.Errorf("%s %q", c.Stage, c.Notes)
	}
	if c := w.find("Search again"); c.Reason != dataset.Timeout || !strings.Contains(c.Detail, "cannot be rewritten") {
		t.Errorf("%s %s", c.Reason, c.Detail)
	}
	for _, q := range second.runs {
		if strings.Contains(q, "Q99") && !strings.Contains(q, "P2860") {
			t.Error("a query with an empty result was run again")
		}
	}
	delete(w.graph.faults, "timeout")
	delete(w.graph.faults, "refuse")
	w.opts.Retry = true
	runs := len(w.graph.runs)
	// neither endpoint returned rows for these two
	if w.mustRun(); len(w.graph.runs) != runs+2 || w.find("Search again").Reason == dataset.Timeout {
		t.Errorf("ran %q", w.graph.runs[runs:])
	}
	w.opts.Retry = false
	w.graph.down = true
	w.wiki.put("2022/01", thread("Later", "x", posted(people+" LIMIT 4")))
	if w.mustRun(); w.find("Later").Result == nil || w.find("Later").Result.Endpoint != "https://second.example/api" {
		t.Errorf("%+v", w.find("Later"))
	}
}

func TestShortLinkHostDown(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.links.down = true
	f := w.mustRun()
	if f.Total.Pending != 3 || len(w.links.asked) != maxLinkFailures {
		t.Errorf("%+v, asked %q", f.Total, w.links.asked)
	}
	w.links.down = false
	if f = w.mustRun(); f.Total.Pending != 0 || w.find("Short").Stage != dataset.Staged {
		t.Errorf("%+v", f.Total)
	}
}

func TestMonthsAndNoRun(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.opts.From, w.opts.To, w.opts.NoRun = "2019-07", "2019-12", true
	f := w.mustRun()
	if f.Pages.Read != 1 || f.Total.Discussions != 13 || f.Total.Staged != 0 || len(w.graph.runs) > 0 ||
		len(w.links.asked) > 0 {
		t.Errorf("%+v, ran %d", f, len(w.graph.runs))
	}
	w.opts.From, w.opts.To, w.opts.NoRun = "2020-01", "", false
	if f = w.mustRun(); f.Pages.Read != 2 || f.Total.Staged != 2 || f.Total.Pending == 0 || f.Total.Gone != 0 {
		t.Errorf("%+v", f)
	}
}

// A listing without archive pages indicates a mistake, not an empty archive.
func TestEmptyListing(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.mustRun()
	before := w.files()
	w.wiki.text = map[string]string{}
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "FORUM_ARCHIVE_PREFIX") {
		t.Errorf("got %v", err)
	}
	if !maps.Equal(before, w.files()) {
		t.Error("the files changed")
	}
}

// A folder belongs to one archive. An archive on a different wiki or with a different prefix is rejected before
// anything is marked as removed.
func TestOtherArchive(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.mustRun()
	before := w.files()
	for _, change := range []func(){func() { w.opts.Wiki = "https://fr.example/w/api.php" },
		func() { w.opts.Wiki, w.opts.Prefix = testWiki, "Wikidata:Bistro/" }} {
		change()
		if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "another folder") {
			t.Errorf("got %v", err)
		}
	}
	if w.opts.Wiki, w.opts.Prefix = testWiki, testPrefix; !maps.Equal(before, w.files()) {
		t.Error("the files changed")
	}
	w.mustRun()
	w = newWorld(t) // if no archive is found because of a misconfiguration, nothing is marked as removed
	planted(w)
	w.opts.Prefix = "Wikidata:Bistro/"
	if _, err := w.run(); err == nil {
		t.Error("an archive was found")
	}
	w.opts.Prefix = testPrefix
	w.mustRun()
}

// If HTML was not available, the next harvest requests it again even though the page has not changed, unless the wiki
// cannot provide HTML at all.
func TestHTMLLater(t *testing.T) {
	w := newWorld(t)
	w.wiki.put("2019/06", thread("Plain", "Who?", posted(people)))
	for _, step := range []struct {
		err   error
		reads int
	}{{ErrNoHTMLNow, 1}, {ErrNoHTMLNow, 1}, {ErrNoHTMLNow, 0}} {
		w.wiki.noHTML, w.wiki.reads = step.err, nil
		if w.mustRun(); len(w.wiki.reads) != step.reads ||
			!slices.Equal(w.find("Plain").Notes, []string{"read from the wikitext only: it is down"}) {
			t.Errorf("%d reads, want %d; %q", len(w.wiki.reads), step.reads, w.find("Plain").Notes)
		}
	}
	w.wiki.put("2019/06", thread("Plain", "Who else?", posted(people)))
	w.mustRun()
	w.wiki.noHTML, w.wiki.reads = nil, nil
	if w.mustRun(); len(w.wiki.reads) != 1 {
		t.Error("the HTML was not requested again")
	}
	if w.mustRun(); len(w.wiki.reads) != 1 {
		t.Error("a wiki without HTML was asked for it again")
	}
	w = newWorld(t) // if the renderer is down, it is not tried again for every page
	for m := range 9 {
		w.wiki.put(fmt.Sprintf("2020/0%d", m+1), thread("Plain", "Who?", posted(people)))
	}
	w.wiki.noHTML = ErrNoHTMLNow
	if f := w.mustRun(); w.wiki.rendered != maxHTMLFailures || f.Total.Staged != 9 {
		t.Errorf("asked %d times, %+v", w.wiki.rendered, f.Total)
	}
	w.wiki.noHTML, w.wiki.rendered = nil, 0
	if w.mustRun(); w.wiki.rendered != 9 {
		t.Errorf("asked again %d times", w.wiki.rendered)
	}
}

// If the wiki goes down during a harvest, the files contain the pages read before that, but not the removed text.
func TestWikiDies(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.mustRun()
	w.wiki.put("2019/06", thread("Only", "this", posted(people)))
	w.wiki.put("2020/01", "x")
	w.wiki.fuse = &fuse{at: 4} // allows the listing and the first page's wikitext and HTML
	f, err := w.run()
	if !errors.Is(err, errCrash) || f.Years[0].Gone == 0 || w.find("Only").Stage != dataset.Staged {
		t.Errorf("%v, %+v", err, f)
	}
}

// If an endpoint hangs, every query times out. In that case, the queries are not considered faulty.
func TestEndpointHangs(t *testing.T) {
	w := newWorld(t)
	planted(w)
	w.graph.hangs = true
	f, err := w.run()
	if !errors.Is(err, ErrEndpointDown) || f.Total.Rejected[dataset.Timeout] != 0 || f.Total.Pending < 15 {
		t.Errorf("%v, %+v", err, f.Total)
	}
}

func TestHTMLAndWikitext(t *testing.T) {
	w := newWorld(t)
	w.wiki.put("2019/06", thread("Plain", "Who?", posted(people)))
	const html = `<html><body><section data-mw-section-id="1"><h2 id="Plain">Plain</h2><p>Who? <a rel="mw:WikiLink" href="./User:Ann" title="User:Ann">Ann</a> (<a rel="mw:WikiLink" href="./User_talk:Ann" title="User talk:Ann">talk</a>) 10:00, 3 June 2019 (UTC)</p>
<dl><dd>Try <a rel="mw:ExtLink" class="external text" href="%s">this</a> <a rel="mw:WikiLink" href="./User:Bob" title="User:Bob">Bob</a> (<a rel="mw:WikiLink" href="./User_talk:Bob" title="User talk:Bob">talk</a>) 10:00, 4 June 2019 (UTC)</dd></dl></section></body></html>`
	w.wiki.html[testPrefix+"2019/06"] = fmt.Sprintf(html, sparql.URL(people+" LIMIT 1"))
	w.mustRun()
	if c := w.find("Plain"); c.Original != people+" LIMIT 1" ||
		!strings.Contains(strings.Join(c.Notes, "\n"), "HTML and wikitext differ") {
		t.Errorf("query %q, notes %q", c.Original, c.Notes)
	}
	w.opts.Source = Wikitext
	if w.mustRun(); w.find("Plain").Original != people || len(w.find("Plain").Notes) > 0 {
		t.Errorf("from the wikitext: %+v", w.find("Plain"))
	}
}

func TestNewRefuses(t *testing.T) {
	w := newWorld(t)
	for _, o := range []Options{{Prefix: "x", From: "2019-13"}, {Prefix: "x", From: "2019-02", To: "2019-01"},
		{Prefix: "x", Source: "pdf"}, {}} {
		if _, err := New(w.parts, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	w.parts.Endpoints = nil
	if _, err := New(w.parts, w.opts); err == nil {
		t.Error("New accepts a harvest without an endpoint")
	}
}

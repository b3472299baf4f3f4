package wiki

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

func toHTML(text string) string { return render(text, renderOptions{queryURL: "/query#"}).html }

// The expected HTML was written by hand to match MediaWiki's, except for classes and white space. The seeded page was
// compared by eye with MediaWiki 1.39's rendering, but not every case below was.
func TestRender(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"},
		{"''i'' '''b''' '''''both''''' ''open", "<p><i>i</i> <b>b</b> <i><b>both</b></i> <i>open</i></p>\n"},
		{"''a '''b'' c'''", "<p><i>a <b>b</b></i><b> c</b></p>\n"},
		{"it's l''''x'''", "<p>it&#39;s l&#39;<b>x</b></p>\n"},
		{":a\n::b\n:c", "<dl><dd>a<dl><dd>b</dd>\n</dl>\n</dd>\n<dd>c</dd>\n</dl>\n"},
		{"* a\n*# b\n*# c\n* d", "<ul><li>a<ol><li>b</li>\n<li>c</li>\n</ol>\n</li>\n<li>d</li>\n</ul>\n"},
		{"::deep", "<dl><dd><dl><dd>deep</dd>\n</dl>\n</dd>\n</dl>\n"},
		{"a\n----\nb", "<p>a</p>\n<hr>\n<p>b</p>\n"},
		{" pre ''x''\n more", "<pre>pre <i>x</i>\nmore\n</pre>\n"},
		{"<pre>''x'' &lt;b></pre>", "<div><pre>&#39;&#39;x&#39;&#39; &lt;b&gt;</pre></div>\n"},
		{"<noinclude><languages /></noinclude>a <translate>b</translate>", "<p>a b</p>\n"},
		{"<nowiki>[[x]] {{y}} &amp; ~~~~</nowiki>", "<p>[[x]] {{y}} &amp; ~~~~</p>\n"},
		{"a<!-- hidden -->b<!-- open", "<p>ab</p>\n"},
		{"&lt;b&gt; &#91; &nosuch; & &amp;amp;", "<p>&lt;b&gt; [ &amp;nosuch; &amp; &amp;amp;</p>\n"},
		{"[[User:Bob|Bob]] [[#Top]] [[:Category:X]] [[Category:X]]",
			`<p><a href="/wiki/User:Bob">Bob</a> <a href="#Top">#Top</a> <a href="/wiki/Category:X">Category:X</a> </p>` + "\n"},
		{"[[Q42|Adams]] [[Property:P31]] [[d:Q5]]",
			`<p><a href="https://www.wikidata.org/wiki/Q42" class="external" rel="nofollow noopener noreferrer">Adams</a> ` +
				`<a href="https://www.wikidata.org/wiki/Property:P31" class="external" rel="nofollow noopener noreferrer">Property:P31</a> ` +
				`<a href="https://www.wikidata.org/wiki/Q5" class="external" rel="nofollow noopener noreferrer">d:Q5</a></p>` +
				"\n"},
		{"[https://a.example/?b=c&d e ''f''] https://g.example/h.",
			`<p><a href="https://a.example/?b=c&amp;d" class="external" rel="nofollow noopener noreferrer">e <i>f</i></a> ` +
				`<a href="https://g.example/h" class="external" rel="nofollow noopener noreferrer">https://g.example/h</a>.</p>` +
				"\n"},
		{"{{Q|42}} {{P|P31}} {{Q|42x}}", `<p><a class="external" rel="nofollow noopener noreferrer" href="https://www.wikidata.org/wiki/Q42">Q42</a> ` +
			`<a class="external" rel="nofollow noopener noreferrer" href="https://www.wikidata.org/wiki/Property:P31">P31</a> {{Q|42x}}</p>` + "\n"},
		{"{{Nothing|a<b>|{{x}}}}", "<p><code class=\"unknown\">{{Nothing|a&lt;b&gt;|{{x}}}}</code></p>\n"},
		{"{{SPARQL Inline|query=ASK {} {{!}} \"é\"}}",
			`<p><a class="try" href="/query#ASK%20%7B%7D%20%7C%20%22%C3%A9%22">query</a></p>` + "\n"},
		{"x {{unclosed\n\ny", "<p>x {{unclosed</p>\n<p>y</p>\n"},
		{"== A ''b'' ==\nx\n=== C ===\n== A b ==", "<section class=\"thread\">\n<h2 id=\"A_b\">A <i>b</i></h2>\n<p>x</p>\n<h3 id=\"C\">C</h3>\n</section>\n<section class=\"thread\">\n<h2 id=\"A_b_2\">A b</h2>\n</section>\n"},
		{"{|\n! a !! b\n|-\n| 1 || [[x|y]]\n| colspan=2 class=x | z\n|}",
			`<div class="table"><table class="wikitable"><tr><th scope="col">a</th><th scope="col">b</th></tr>` + "\n" +
				`<tr><td>1</td><td><a href="/wiki/X">y</a></td><td colspan="2">z</td></tr>` + "\n</table></div>\n"},
		{"{| style=\"word-break:normal;overflow-wrap:normal\"\n| a || b\n|}",
			`<div class="table"><table class="wikitable whole"><tr><td>a</td><td>b</td></tr>` + "\n</table></div>\n"},
		{"{|\n| unclosed", "<p>{|\n| unclosed</p>\n"},
		{"<b onclick=x>a</b> <script>x</script> </b> <i>open",
			"<p><b>a</b> &lt;script&gt;x&lt;/script&gt; &lt;/b&gt; <i>open</i></p>\n"},
		{"<b>a<i>b</b>c</i>", "<p><b>a<i>b</i></b><i>c</i></p>\n"},
		{"a\x7f0\x7fb", "<p>a0b</p>\n"},
	} {
		if got := toHTML(c.text); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestCollapsible(t *testing.T) {
	got := toHTML(":{| class=\"wikitable mw-collapsible mw-collapsed\"\n! How (2 steps)\n|-\n|\n# one\n#: seen\n# two\n|}\n:end")
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	d := doc.Find("dl > dd > details")
	if _, open := d.Attr("open"); open || d.Find("summary").Text() != "How (2 steps)" || d.Find("ol > li").Length() != 2 ||
		doc.Find("dl").First().ChildrenFiltered("dd").Length() != 2 {
		t.Errorf("got %s", got)
	}
}

// In a one-line reply, the list of steps is an HTML table.
func TestCollapsibleHTML(t *testing.T) {
	const list = `<table class="wikitable mw-collapsible mw-collapsed"><tr><th>What I tried (2 steps)</th></tr><tr><td><ol>` +
		`<li>Looked up [[Q30|a <b>country</b>]]</li><li>Ran <script>a query</script></li></ol>[https://x.example/ all]</td></tr></table>`
	for _, before := range []string{":", "", "Text "} {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(toHTML(before + list)))
		if err != nil {
			t.Fatal(err)
		}
		d := doc.Find("details")
		if items := d.Find("ol > li"); d.Find("summary").Text() != "What I tried (2 steps)" || items.Length() != 2 ||
			items.Last().Text() != "Ran <script>a query</script>" || d.Find("li a b").Length() != 1 || d.Parent().Is("p") {
			t.Errorf("%q: %s", before, toHTML(before+list))
		}
		checkSafe(t, before+list)
	}
}

// TestQueryShown checks that a query is shown exactly as posted, and that its link runs the same query.
func TestQueryShown(t *testing.T) {
	for _, q := range []string{
		"SELECT ?a WHERE { ?a wdt:P31|wdt:P279 wd:Q5 . }",
		"# c\nSELECT * { ?x rdfs:label \"a\\\"b\"@en, 'x', \"\"\"l\n'''\"\"\" . FILTER(?x < 5 && ?x > -2.5e3 || 1=2) } # end",
		"ASK { <http://e/x?a=b&c=%20> ?p ?größe }", "PREFIX : <urn:x> SELECT (COUNT(*) AS ?n) { :a :b [] ; a ?c . }",
		"unfinished \"string\n<not an iri & ``",
	} {
		for _, text := range []string{":{{SPARQL|query=\n" + strings.ReplaceAll(q, "|", "{{!}}") + "\n}}",
			"<syntaxhighlight lang=\"sparql\">\n" + q + "\n</syntaxhighlight>"} {
			doc, err := goquery.NewDocumentFromReader(strings.NewReader(toHTML(text)))
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Find(".mw-highlight pre").Text(); got != q {
				t.Errorf("%q is shown as %q", q, got)
			}
			if href, ok := doc.Find("a.try").Attr("href"); ok {
				if got, err := url.PathUnescape(strings.TrimPrefix(href, "/query#")); err != nil || got != q {
					t.Errorf("%q is run as %q", q, got)
				}
			}
		}
	}
}

var (
	elements = strings.Fields("html head body a b i u s del ins small big sub sup code kbd samp tt var em strong span div q cite abbr blockquote br p dl dd ul ol li pre hr " +
		"h1 h2 h3 h4 h5 h6 section table tbody tr td th caption details summary")
	attributes = strings.Fields("href class rel id scope colspan rowspan open title")
	safeHref   = regexp.MustCompile(`^(?:/wiki/|/query#|#|https?://)`)
)

// checkSafe parses the HTML as a browser does and fails on anything that wikitext must not be able to produce.
func checkSafe(t *testing.T, text string) {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(`<div id="outer">` + toHTML(text) +
		`</div><p id="after">`))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Find("body > #outer").Length() != 1 || doc.Find("body > #after").Length() != 1 {
		t.Fatalf("%q broke out of its place: %s", text, toHTML(text))
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		n := s.Nodes[0]
		if !slices.Contains(elements, n.Data) {
			t.Fatalf("%q made <%s>", text, n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(attributes, a.Key) || a.Key == "href" && !safeHref.MatchString(a.Val) {
				t.Fatalf("%q made %s=%q", text, a.Key, a.Val)
			}
		}
	})
}

var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<b onmouseover=alert(1)>x</b>",
	`<span style="position:fixed" class="mw-x" onclick="x">a</span>`,
	"[javascript:alert(1) x]", "[[javascript:alert(1)|x]]", `[https://a.example/"onclick="x y]`,
	`[https://a.example/<script> y]`, "[[User:<script>|x]]", `[[User:"onclick=x|y]]`,
	"</div></section></main>", "<div>", "</dd></dl>", "{| onclick=x\n| onclick=x | <script>\n|}",
	"{{SPARQL|query=</pre><script>alert(1)</script>}}",
	"{{SPARQL|query=\"><script>alert(1)</script>}}", "<syntaxhighlight lang=\"sparql\"></pre><script></syntaxhighlight>",
	"<nowiki><script></nowiki>", "<pre><script></pre>",
	"== <script>x</script> \" onclick=x ==", "{{ping|<script>}}", "{{ping|\"onclick=x}}",
	"{{unsigned|<script>|</small></p>}}", "{{Q|1\"onclick=x}}", "{{Section resolved|1=</div></section><script>}}",
	"\x7f0\x7f\x7f1\x7f{{!}}<b>", "&#60;script&#62;", "&lt;script&gt;", "<br onclick=x>", "<b/onclick=x>", "<B>x</b >",
	"<a href=x>y</a>", "<iframe src=//evil>", "<details open ontoggle=x>",
	"<!-- --><script>--><script>", "<nowiki/><script>", "https://a.example/'onclick='x", "https://a.example/\"><script>",
	"[[#\"onclick=x|y]]", "[[#<script>]]",
	"<math></code><script></math>", ";term:<script>", " <script> pre", "|}</div>", "{{<script>}}", "{{a|b\n== c ==\n}}",
	"<small><div></small></div>", "<table><tr><td>x", "\x00<b>\x00",
	"[[Q42|</a><script>]]", "[https://x.example [https://y.example z]]", "[[A|[[B|c]]]]", "'''''<b>''",
	"<span class=\"mw-\" class=\"mw-b\">",
}

func TestHostileTextIsShown(t *testing.T) {
	for _, h := range hostile {
		for _, f := range []string{"%", ":%", "* %", "== % ==", "{|\n| %\n|}", "{|\n! %\n|}", "[[User:A|%]]",
			"[https://x.example %]", "''%", "{{Section resolved|1=%}}", "<small>%</small>", " %", "a\n%\nb"} {
			checkSafe(t, strings.ReplaceAll(f, "%", h))
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, h := range hostile {
		f.Add(h)
		f.Add(":" + h + "\n{| class=mw-collapsible\n! x\n|-\n|\n# " + h + "\n|}")
	}
	f.Fuzz(func(t *testing.T, text string) { checkSafe(t, text) })
}

func FuzzHighlight(f *testing.F) {
	f.Add("SELECT ?x { ?x a \"b\"@en-gb } # c")
	tags := regexp.MustCompile(`</?span[^>]*>`)
	f.Fuzz(func(t *testing.T, q string) {
		if got := html.UnescapeString(tags.ReplaceAllString(highlight(q), "")); got != q &&
			html.UnescapeString(html.EscapeString(q)) == q {
			t.Fatalf("%q became %q", q, got)
		}
	})
}

// TestRendersInTime checks that wikitext designed to be slow renders quickly. Each case takes well under a second; the
// limit only catches hangs.
func TestRendersInTime(t *testing.T) {
	for _, unit := range []string{"{{", "[[", "<nowiki>", "<!--", "{|\n", "''", "<b>", "[http://x ", "{{a|", "<pre", "]]",
		"&", "\n:", ":", "=", "== x ==\n", "{{ping|", "[[a|", "~~~", "<b>''", "{{unsigned|"} {
		began := time.Now()
		toHTML(strings.Repeat(unit, 50_000/len(unit)))
		if d := time.Since(began); d > time.Minute {
			t.Errorf("%q: %v", unit, d)
		}
	}
}

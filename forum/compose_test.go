package forum

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum/escape"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

func TestMessagesAreComplete(t *testing.T) {
	c, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Languages()); n != 12 {
		t.Errorf("%d languages", n)
	}
	en := Texts("en")
	var keys []string
	for key := range noAnswers {
		keys = append(keys, key)
	}
	for kind := range openKinds {
		keys = append(keys, "open_"+kind)
		if named[kind] != strings.Contains(en.Text("open_"+kind), "{name}") {
			t.Errorf("does open_%s have a name?", kind)
		}
	}
	for _, key := range keys {
		if !en.Has(key) {
			t.Errorf("no sentence %q", key)
		}
	}
	files, err := messageFiles.ReadDir("messages")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := messageFiles.ReadFile("messages/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]any
		if err := json.Unmarshal(b, &texts); err != nil {
			t.Fatal(err)
		}
		for key, text := range texts {
			if said := fmt.Sprint(text); strings.ContainsAny(strings.TrimPrefix(said, "map["), "[|<>&~\n") ||
				strings.Contains(said, "{{") || strings.Contains(said, "''") {
				t.Errorf("%s: %s is markup: %q", f.Name(), key, said)
			}
		}
	}
}

func TestComposeShape(t *testing.T) {
	r := posted()
	r.Short = "There are 20 lighthouses."
	got, err := Compose(r, ":")
	if err != nil {
		t.Fatal(err)
	}
	want := `:@Ann: There are 20 lighthouses.<!-- spinachbot:abc-123 -->
:Query: {{SPARQL|query=
SELECT ?a WHERE {
  ?a wdt:P31{{!}}wdt:P279 wd:Q39715 . # lighthouse
}
}}
:{| class="wikitable"
! a !! b
|-
| [[Q42|x]] || x
|-
| x || [[Property:P31|x]]
|}
:And 18 more rows: the query above shows them all.
:{| class="wikitable mw-collapsible mw-collapsed"
! How I found it (2` + "\u00a0" + `steps)
|-
|
# Found by searching: [[Q42|x]]
# Ran a query: 2 rows
|}
:<small>The query was run at query.wikidata.org on 5 June 2024 at 10:20 UTC; the data may have changed since. I am a bot, and this reply was written with the help of a language model; please check it before you rely on it. My operator is [[User talk:Olga Operator|Olga Operator]]. If something is missing or wrong, just reply here and say what to change.</small> --[[User:SpinachBot|SpinachBot]] ([[User talk:SpinachBot|talk]]) 10:21, 5 June 2024 (UTC)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestComposeRoundTrip checks that at every indentation and in every language, the reply is parsed as one comment by
// the bot, at the right level and with exactly the same query.
func TestComposeRoundTrip(t *testing.T) {
	queries := []string{"ASK {}", "SELECT ?a { ?a wdt:P31|wdt:P279 wd:Q5 FILTER(?x || ?y) }",
		"SELECT ?é { ?é rdfs:label \"a|b\\u007B\"@fr . # & &amp; 'x'\n  <http://x/%7E> ?p '''q''' }\nLIMIT 3"}
	yes := true
	for _, lang := range []string{"en", "de", "fr", "ja", "ar", "de-CH", ""} {
		for _, target := range []string{"", ":", "::", "*", ":*", "#", "*:"} {
			for _, q := range queries {
				r := posted()
				r.Language, r.Query = lang, q
				if q == "ASK {}" {
					r.Boolean, r.Rows = &yes, nil
				}
				page := "== H ==\nQ. [[User:Ann]] 09:00, 5 June 2024 (UTC)\n" + target +
					"T. [[User:Tim]] 10:00, 5 June 2024 (UTC)\n:Next. [[User:Ned]] 11:00, 5 June 2024 (UTC)\n"
				th := &Parse("T", page, Options{}).Threads[0]
				target := th.Comments[1]
				indent, err := ReplyIndent(page, th, target.ID)
				if err != nil {
					t.Fatal(err)
				}
				w, err := Compose(r, indent)
				if err != nil {
					t.Fatal(err)
				}
				text, err := Place(page, th, target.ID, w)
				if err != nil {
					t.Fatal(err)
				}
				after := Parse("T", text, Options{})
				own, c := FindReply(after, text, "abc-123", "SpinachBot")
				if c == nil || len(own.Comments) != 4 || c.Parent != target.ID || c.Level != target.Level+1 ||
					len(c.Queries) != 1 || c.Queries[0].SPARQL != q {
					t.Fatalf("lang %q, target %q: reply reads as %+v in\n%s", lang, target.Indent, c, text)
				}
				if rs := own.RepliesTo(target.ID, "spinachBot"); len(rs) != 1 || rs[0] != c {
					t.Errorf("replies to the target: %v", rs)
				}
			}
		}
	}
}

func TestComposeWithoutAnswer(t *testing.T) {
	c, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	for reason := range noAnswers {
		for _, tag := range c.Languages() {
			lang := tag.String()
			r := Reply{Language: lang, To: "Ann", NoAnswer: reason, Operator: "Olga", Marker: "m-1", Signature: "~~~~",
				Steps: []Step{{Kind: StepSearch, Text: "x"}, {Kind: StepQuery}}}
			w, err := Compose(r, "::")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(w, Texts(lang).Text(reason)) || strings.Contains(w, "SPARQL") || !strings.HasSuffix(w,
				" --~~~~") || strings.Count(w, "~~~~") != 1 {
				t.Errorf("%s %s:\n%s", lang, reason, w)
			}
		}
	}
}

// A list of steps always shows the step that ran the posted query, with its number, and the same look-up once.
func TestStepsShown(t *testing.T) {
	for at, want := range map[int]string{
		3:  "Ran a query: 3 rows (the query above)\n# Looked at [[Q5]]\n",
		9:  "Ran a query: 9 rows (the query above)\n\n… and 5 more steps\n|}",
		12: "Looked at [[Q9]]\n\n… and 3 more steps\n\n13. Ran a query: 12 rows (the query above)\n\n… and 2 more steps\n|}",
		13: "Looked at [[Q8]]\n\n… and 5 more steps\n\n14. Ran a query: 13 rows (the query above)\n\n15. Looked at [[Q15]]\n|}",
	} {
		r := posted()
		r.Steps = []Step{{Kind: StepLook, Things: []Cell{{ID: "Q1"}}}}
		for i := 1; i <= 14; i++ {
			s := Step{Kind: StepLook, Things: []Cell{{ID: "Q" + strconv.Itoa(i+1)}}}
			if i == at {
				s = Step{Kind: StepQuery, Rows: i, Answer: true}
			}
			r.Steps = append(r.Steps, s, Step{Kind: StepLook, Things: []Cell{{ID: "Q1"}}})
		}
		w, err := Compose(r, ":")
		if err != nil || !strings.Contains(w, want) || !strings.Contains(w, "(15\u00a0steps)") || strings.Count(w, "[[Q1]]") != 1 {
			t.Errorf("%d: %v\n%s", at, err, w)
		}
	}
}

// In a long list, every step is either shown with its number or counted, ten are shown at most, and the number of steps
// left out in one place is never one.
func TestEveryStepCounted(t *testing.T) {
	number := regexp.MustCompile(`(?m)^(?:# |(\d+)\. |… and (\d+) more)(?:Step (\d+))?`)
	for n := 1; n <= 16; n++ {
		for answer := -1; answer < n; answer++ {
			var all []string
			for i := range n {
				all = append(all, fmt.Sprintf("Step %d", i+1))
			}
			c := &composer{r: Reply{Query: "ASK { }"}, t: Texts("en")}
			list, at, shown := c.listed(all, answer), 0, 0
			for _, m := range number.FindAllStringSubmatch(list, -1) {
				count, _ := strconv.Atoi(m[2])
				if at += max(count, 1); count == 1 || count == 0 && m[3] != strconv.Itoa(at) || m[1] != "" && m[1] != m[3] {
					t.Errorf("%d steps, answer %d: %q in%s", n, answer, m[0], list)
				}
				if count == 0 {
					shown++
				}
			}
			if at != n || shown > maxSteps || answer >= 0 && !strings.Contains(list+"\n", all[answer]+"\n") {
				t.Errorf("%d steps, answer %d: %d of %d, %d shown:%s", n, answer, at, n, shown, list)
			}
		}
	}
}

func TestComposeLimits(t *testing.T) {
	r := posted()
	long := strings.Repeat("ä", 10_000)
	r.Short = long
	r.Rows = nil
	r.Vars = nil
	for range 20 {
		r.Vars = append(r.Vars, "v")
	}
	for i := range 50 {
		var row []Cell
		for range 20 {
			row = append(row, Cell{Text: strconv.Itoa(i) + long})
		}
		r.Rows = append(r.Rows, row)
	}
	r.Total = 7 // fewer than len(r.Rows)
	r.Steps = nil
	for i := range 100 {
		r.Steps = append(r.Steps, Step{Kind: StepSearch, Text: strconv.Itoa(i) + long})
	}
	w, err := Compose(r, ":")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w, "\n|-\n"); n != 21 {
		t.Errorf("%d rows, want 20 and one in the list of steps", n)
	}
	for _, cut := range []string{"16 more columns", "and 90 more steps"} { // a phone has room for at most four of these
		if !strings.Contains(w, cut) {
			t.Errorf("%q is not told in\n%s", cut, text.Clip(w, 3000))
		}
	}
	if n := len([]rune(w)); n > MaxShort+MaxRows*maxColumns*(maxCell+10)+maxSteps*(maxAsked+100)+2000 {
		t.Errorf("%d characters", n)
	}
	// a row shorter than the header, and no rows
	r = posted()
	r.Rows = [][]Cell{{}}
	if _, err := Compose(r, ":"); err != nil {
		t.Error(err)
	}
}

func TestComposeRefuses(t *testing.T) {
	for name, spoil := range map[string]func(r *Reply){
		"open braces":     func(r *Reply) { r.Query = "SELECT ?a {{ ?a ?b ?c } }" },
		"closing braces":  func(r *Reply) { r.Query = "SELECT ?a { { ?a ?b ?c }}" },
		"tildes":          func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"~~~\" }" },
		"link":            func(r *Reply) { r.Query = "SELECT ?a { ?a ?b [[ ] ] }" },
		"link end":        func(r *Reply) { r.Query = "SELECT ?a { ?a ?b [ [ ]] }" },
		"comment":         func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"<!--\" }" },
		"nowiki":          func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"<nowiki>\" }" },
		"highlight":       func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"</syntaxhighlight>\" }" },
		"include":         func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"<noinclude>\" }" },
		"ref":             func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"<ref name=x />\" }" },
		"switch":          func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"__TOC__\" }" },
		"pipe in braces":  func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"{|}\" }" },
		"conversion":      func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"-{x\" }" },
		"control":         func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"\x7f\" }" },
		"bad UTF-8":       func(r *Reply) { r.Query = "SELECT ?a { ?a ?b \"\xff\" }" },
		"spaces":          func(r *Reply) { r.Query = " ASK {}\n" },
		"id":              func(r *Reply) { r.Rows[0][0].ID = "Q42]] [[User:X" },
		"id zero":         func(r *Reply) { r.Rows[0][0].ID = "Q042" },
		"marker":          func(r *Reply) { r.Marker = "a --> b" },
		"marker hyphens":  func(r *Reply) { r.Marker = "a--b" },
		"no signature":    func(r *Reply) { r.Signature = "" },
		"signature lines": func(r *Reply) { r.Signature = "~~~~\n== x ==" },
		"operator":        func(r *Reply) { r.Operator = "A]] {{x}}" },
		"reason":          func(r *Reply) { r.NoAnswer = "bored" },
		"nothing to say":  func(r *Reply) { r.Query, r.Short = "", " " },
	} {
		r := posted()
		spoil(&r)
		if w, err := Compose(r, ":"); err == nil {
			t.Errorf("%s: composed\n%s", name, w)
		} else if !strings.HasPrefix(err.Error(), "compose reply: ") {
			t.Errorf("%s: error %q does not say what failed", name, err)
		}
	}
	for _, indent := range []string{"", " ", ":x", ";", "==", "\n:"} {
		if w, err := Compose(posted(), indent); err == nil {
			t.Errorf("indent %q: composed\n%s", indent, w)
		}
	}
	for _, ok := range []string{"ASK {}", "SELECT ?a { ?a <http://x/#y>|^wdt:P1 ?b FILTER(?a < ?b || ?a<pre:x) }"} {
		if err := CheckQuery(ok); err != nil && !strings.Contains(ok, "<pre:") {
			t.Errorf("%s: %v", ok, err)
		}
	}
}

// FuzzEncode checks that any text, encoded and then parsed by our own parser, has the same characters and no markup.
func FuzzEncode(f *testing.F) {
	for _, s := range payloads {
		f.Add(s)
	}
	for _, s := range []string{"1949-09-15", "Victoria: 12", "AT&T", "&amp", "&am\u202ep;", "a_b", "it's", "5 > 3",
		"14:30", "(UTC)", "x (CET) y", "!", "a:b", ":", "-5", "--", "=x=", "__a__"} {
		f.Add(s)
	}
	f.Fuzz(checkEncode)
}

func checkEncode(t *testing.T, s string) {
	text, e := escape.Clean(s, 500), encode(s, 500)
	if bad := markupIn.FindString(entities.ReplaceAllString(" "+e, "\x01")); bad != "" {
		t.Errorf("%q is encoded as %q, with the markup %q", s, e, bad)
	}
	if strings.HasPrefix(e, " ") || strings.HasSuffix(e, " ") || strings.Contains(e, "  ") {
		t.Errorf("%q is encoded with spare blanks as %q", s, e)
	}
	if text == "" {
		return
	}
	page := "== A ==\n:x " + e + " y [[User:Ann|Ann]] 10:00, 5 June 2024 (UTC)\n"
	c := Parse("T", page, Options{}).Threads[0].Comments
	if len(c) != 1 || c[0].Text != "x "+text+" y" || len(c[0].Queries)+len(c[0].Links)+len(c[0].Mentions) != 0 {
		t.Errorf("%q is encoded as %q and read as %+v", s, e, c)
	}
	for _, n := range wikitext.Preprocess(page, wikitext.Options{}).Nodes {
		if n.Kind != wikitext.Heading || n.Start != 0 {
			t.Errorf("%q is encoded as %q, with a node %+v", s, e, n)
		}
	}
}

var (
	entities = regexp.MustCompile(`&#\d+;`)
	markupIn = regexp.MustCompile(`[<{}\[\]|~\n\r\t\x7f]|''|__|!!|&(#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);|(?i::/|(bitcoin|geo|magnet|mailto|matrix|news|sips?|sms|tel|urn|xmpp):\S)|\((UTC|[A-Z]{1,4}T)\)|(RFC|ISBN|PMID) |^ [-!]|^ [*#:;=]`)
)

// TestEncodeReadsAsText covers characters that have a special meaning in wikitext.
func TestEncodeReadsAsText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []rune("&;#:!*=-_'\"~{}[]|<>()/\\^@ \u00a0\n\u0338\u0301éaZ09UTC…")
	words := []string{"RFC", "ISBN", "amp;", "#38;", "http", "//", "mailto", "(UTC)", "10:00, 5 June 2024", "__TOC__",
		"nowiki", "SELECT ", "User:A"}
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			if r.IntN(4) == 0 {
				b.WriteString(words[r.IntN(len(words))])
			} else {
				b.WriteRune(pieces[r.IntN(len(pieces))])
			}
		}
		checkEncode(t, b.String())
	}
	for text, want := range map[string]string{
		"1949-09-15": "1949-09-15", "Victoria: 12": "Victoria: 12",
		"at 14:30, 5 > 3 & AT&T = it's a_b!": "at 14:30, 5 > 3 & AT&T = it's a_b!",
		"https://x":                          "https&#58;//x", "wdt:P31": "wdt:P31", "Mailto:x": "Mailto&#58;x",
		"&lt;": "&#38;lt;", "''x": "&#39;&#39;x",
		"RFC 12": "RFC&#32;12",
	} {
		if got := encode(text, 100); got != want {
			t.Errorf("%q is encoded as %q, want %q", text, got, want)
		}
	}
}
